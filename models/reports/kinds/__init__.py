"""What pages of each kind show: of models, of load tests, of a day, of two builds."""
