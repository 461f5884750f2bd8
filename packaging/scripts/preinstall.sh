#!/bin/sh
# Before the files are unpacked, some of which are for the group of the service.
set -e
getent group executord >/dev/null || groupadd --system executord
getent passwd executord >/dev/null ||
	useradd --system --gid executord --home-dir /var/lib/executord --no-create-home \
		--shell /usr/sbin/nologin --comment 'runs jobs' executord
