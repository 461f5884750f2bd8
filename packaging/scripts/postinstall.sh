#!/bin/sh
# "configure VERSION" of dpkg and "2" of rpm are upgrades, "configure" and "1" are not.
set -e
[ -d /var/lib/executord ] || install -d -o executord -g executord -m 0750 /var/lib/executord
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload || true
case "$1$2" in
configure?* | 2)
	# It drains first, for which nobody waits here.
	systemctl --no-block try-restart executord.service || true
	;;
esac
