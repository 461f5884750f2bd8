# install.sh deb|rpm PACKAGE DIR installs a package in a copy of this machine, runs its service as its unit says,
# upgrades and removes it. The copy is an overlay, seen in this mount namespace alone. DIR is /mnt in it.
set -eu
format=$1 package=$2 dir=$3
mkdir "$dir/upper" "$dir/work" "$dir/root" "$dir/mnt"
mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
mount -t proc proc "$dir/root/proc"
mount --rbind /dev "$dir/root/dev"
mount --bind "$dir/shared" "$dir/root/mnt"
cp "$package" "$dir/root/root/package.$format"

cat >"$dir/root/root/steps" <<'STEPS'
set -eu
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
format=$1

# A systemctl that notes what it is asked for.
mkdir -p /run/systemd/system
printf '#!/bin/sh\necho "$*" >>/mnt/systemctl\n' >/usr/sbin/systemctl
chmod 755 /usr/sbin/systemctl
say() {
	echo "$1 systemctl: $(tr '\n' ';' </mnt/systemctl)"
	rm /mnt/systemctl
}

case $format in
deb) add='dpkg -i' again='dpkg -i' remove='dpkg -r executord' ;;
rpm) add='rpm -i --nodeps' again='rpm -U --nodeps --replacepkgs' remove='rpm -e executord' ;;
esac
$add /root/package.$format >/mnt/out 2>&1 || { cat /mnt/out; exit 1; }
say install
echo "user: $(getent passwd executord | cut -d: -f6,7)"
stat -c '%U %G %a %n' /etc/executord /etc/executord/jobs.crontab /var/lib/executord /usr/bin/executord

printf '# name: who\n@reboot echo "$(id -un) in $PWD" >/mnt/ran; echo "$EXECUTORD_JOB" >made\n' >>/etc/executord/jobs.crontab
unit=/usr/lib/systemd/system/executord.service
setting() { sed -n "s/^$1=//p" $unit; }
install -d -o "$(setting User)" -g "$(setting Group)" /run/"$(setting RuntimeDirectory)"
(
	cd "$(setting WorkingDirectory)"
	umask "$(setting UMask)"
	exec setpriv --reuid "$(setting User)" --regid "$(setting Group)" --init-groups --no-new-privs --inh-caps=-all \
		env -i PATH="$PATH" NOTIFY_SOCKET=/mnt/notify WATCHDOG_USEC=1000000 "$(setting Environment)" $(setting ExecStart)
) >/mnt/log 2>&1 &
pid=$!
read -r _ # the test has seen it begin
executord jobs --at unix:/run/executord/executord.sock
kill -TERM $pid
code=0
wait $pid || code=$?
echo "end: $code"

$again /root/package.$format >/mnt/out 2>&1 || { cat /mnt/out; exit 1; }
say upgrade
echo "jobs: $(grep -c '^@reboot' /etc/executord/jobs.crontab)"
[ $format = deb ] || cp /etc/executord/jobs.crontab /mnt/kept
$remove >/mnt/out 2>&1 || { cat /mnt/out; exit 1; }
say remove
left() { echo "$1: $(find /usr/bin/executord /etc/executord /var/lib/executord -type f ! -name 'jobs.db?*' 2>/dev/null | sort | tr '\n' ' ')"; }
left left
echo "user left: $(id -un executord)"
if [ $format = deb ]; then
	dpkg -P executord >/mnt/out 2>&1 || { cat /mnt/out; exit 1; }
	left 'left after a purge'
fi
STEPS
exec chroot "$dir/root" sh /root/steps "$format"
