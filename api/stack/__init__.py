"""The local stack behind `longtail up`: PostgreSQL, Valkey, API, workers and beat under supervisord."""
