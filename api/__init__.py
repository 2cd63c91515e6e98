"""What answers now: HTTP service, its client, command line, local stack. Rests on models/, never on workers/."""
