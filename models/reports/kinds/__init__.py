"""What pages of each kind say: of models, of load tests, of a day, of two builds."""
