"""What answers now: HTTP service, command line, local stack. Rests on models/, never on workers/."""
