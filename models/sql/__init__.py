"""Re-creatable SQL, applied in name order after every migration: functions, policies, grants, views."""
