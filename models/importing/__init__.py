"""Models of Java Modelling Tools (JMT): JMVA and JSIMg files in, JMVA files out."""
