#!/bin/sh
# "remove" of dpkg and "0" of rpm; an upgrade stops nothing.
set -e
[ -d /run/systemd/system ] || exit 0
case "$1" in
remove | 0) systemctl disable --now executord.service || true ;;
esac
