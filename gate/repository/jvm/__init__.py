"""What is read of Java and its kin: builds of Maven and Gradle."""
