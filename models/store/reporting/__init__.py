"""What operators read: numbers of the service and of tenants, the views of schema `reporting`, runs of scheduled tasks."""
