"""HTTP to loopback without TLS: reading the machine's certificates would take most of a short test."""

import ssl

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # knows no authority
