"""What is read of JavaScript and TypeScript: packages, scripts, configurations, and which tests their runners collect."""
