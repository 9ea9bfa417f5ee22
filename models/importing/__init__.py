"""Import models of Java Modelling Tools (JMT) from JMVA and JSIMg files, and export JMVA files."""
