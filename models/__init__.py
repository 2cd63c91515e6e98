"""What Longtail knows: settings, errors, tables, mathematics, SQL, encoders. Imports nothing from api/ or workers/."""
