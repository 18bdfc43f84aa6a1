"""What the commands of the command line do, once their arguments are read."""
