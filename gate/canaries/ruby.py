"""Ruby: a line behind the comments at the start, where every use of the file comes by."""

from gate.canaries.canary import Level, at_start, in_bodies

NAME = "Ruby"
FILES = ".rb .rake .gemspec Rakefile Gemfile"
PROGRAMS = "ruby"

BREAKS = {
    Level.SYNTAX: at_start("MARK)", after="#"),
    Level.NAME: at_start("MARK", after="#"),
    Level.RUN: at_start("Integer('MARK')", after="#"),
    Level.BEHAVIOUR: in_bodies(r"(?:private |protected )?def [^;=]*(?:=\([^)]*\))?", "Integer('MARK')"),
}
