"""What is read of Rust: crates, features, and the runs of cargo."""
