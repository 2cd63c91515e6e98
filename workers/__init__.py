"""What happens later: Celery tasks that turn accepted turns into memory."""
