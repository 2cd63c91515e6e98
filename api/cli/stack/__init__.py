"""Commands for whoever runs the service: start and stop, doctor, tokens, backups, reports, calibration."""
