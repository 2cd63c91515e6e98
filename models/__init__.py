"""What Longtail knows: settings, errors, table definitions, mathematics, SQL, encoders. Imports nothing from api/ or workers/."""
