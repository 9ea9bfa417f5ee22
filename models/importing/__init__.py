"""Import models of Java Modelling Tools (JMT), PMIF and LQNS, and export JMVA files."""
