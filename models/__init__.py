"""What Longtail knows and believes: records, mathematics, tables, SQL, encoders. Imports nothing from api/ or workers/."""
