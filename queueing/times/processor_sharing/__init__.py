"""Response times at servers that all jobs present share: processor sharing."""
