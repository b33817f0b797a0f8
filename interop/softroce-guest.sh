#!/usr/bin/env bash
# softroce-guest.sh - run commands on a real Linux soft-RoCE (rdma_rxe) driver.
#
# Boots an unmodified Debian kernel in QEMU (KVM when usable, otherwise software
# emulation) with a small initramfs that holds rdma-core, ibverbs-utils, perftest,
# rping, iproute2 (ip, tc, rdma) and tcpdump.  Needs no root, no kernel module on
# the host and no installed package beyond bash, coreutils, tar, apt and dpkg-deb:
# everything (QEMU included, when none is installed) comes from a private, signed
# Debian apt root below $SOFTROCE_CACHE.
#
#   softroce-guest.sh build                     fill the cache (safe to repeat)
#   softroce-guest.sh cached                    exit 0 if build and headers have nothing to fetch
#   softroce-guest.sh headers                   unpack the development files of the verbs for C
#                                               programs of the guest (prints their root folder)
#   softroce-guest.sh run [OPT]... -- CMD...    boot, run CMD, print its output,
#                                               shut down, exit with CMD's status
#   softroce-guest.sh start [OPT]...            boot and leave running (prints DIR)
#   softroce-guest.sh exec DIR CMD...           run CMD in a started guest (may be
#                                               called many times, also in parallel)
#   softroce-guest.sh stop DIR                  shut a started guest down
#   softroce-guest.sh with-tap CMD...           run CMD in a new network namespace
#                                               that owns tap "srtap0" (10.77.0.1/24,
#                                               fd77::1/64, MTU 9000); as root, or
#                                               unprivileged where user namespaces and
#                                               /dev/net/tun are open to users
#
# OPT (run, start):
#   --net SPEC     guest NIC ethN (repeatable; default: one unconnected NIC)
#                    none            unconnected (traffic inside the guest only)
#                    tap:IF          existing tap IF, e.g. srtap0 below with-tap
#                    udp:LPORT:RPORT raw Ethernet frames in UDP datagrams: QEMU binds
#                                    127.0.0.1:LPORT and sends to 127.0.0.1:RPORT
#                    unix:LPATH:RPATH  the same over UNIX datagram sockets
#   --host N       guest address 10.77.0.N and fd77::N on eth0 (default 2)
#   --share DIR    host directory mounted read-write at /share (default: a new one)
#   --mount DIR    host directory mounted read-only at /mnt (e.g. a JDK or target/)
#   --dump FILE    capture eth0 to this pcap file (done by QEMU, no root needed)
#   --mem MB       guest memory (default 512)        --cpus N   (default 2)
#   --timeout S    limit for the whole run (default 120; start: none)
#   --append STR   extra kernel arguments
#
# Environment:
#   SOFTROCE_CACHE   cache directory (default ~/.cache/softdpu-guest); keep it in CI
#   SOFTROCE_KERNEL  Debian meta package (default linux-image-amd64, 6.1;
#                    linux-image-6.12-amd64 gives 6.12). Cloud kernels lack rdma_rxe.
#   SOFTROCE_ACCEL   auto | kvm | tcg (default auto)
#   SOFTROCE_QEMU    QEMU binary (default: qemu-system-x86_64 in PATH, else Debian's)
#   SOFTROCE_SUITE, SOFTROCE_MIRROR, SOFTROCE_SECURITY   Debian suite and mirrors
#
# In the guest: eth0 is up with both addresses and rxe0 sits on it; "rxe-pair" makes
# a second, self-contained wire: rxeA (10.78.0.1, fd78::1) <-veth-> rxeB (10.78.0.2,
# fd78::2), packets visible to tcpdump on vethA/vethB; "gid DEV ADDR" prints the GID
# index to use with -g/-x.
set -euo pipefail

CACHE=${SOFTROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softdpu-guest}
KMETA=${SOFTROCE_KERNEL:-linux-image-amd64}
SUITE=${SOFTROCE_SUITE:-bookworm}
# The mirrors that this machine's apt uses.
repo() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | sort -u | grep -E "$1" | head -1 || true; }
MIRROR=${SOFTROCE_MIRROR:-$(repo '/debian/?$')}
SECURITY=${SOFTROCE_SECURITY:-$(repo '/debian-security/?$')}
SECURITY=${SECURITY:-${MIRROR%/}-security}
ACCEL=${SOFTROCE_ACCEL:-auto}
GUEST_PKGS="busybox-static dash ibverbs-providers ibverbs-utils rdmacm-utils perftest iproute2 tcpdump"
MODULES="rdma_rxe rdma_ucm ib_uverbs virtio_pci virtio_net virtio_rng 9pnet_virtio 9p veth dummy
         sch_netem sch_ingress cls_matchall cls_u32 act_gact crc32_generic crc32_pclmul crc32c_intel crc32c_generic"
RECIPE=9                                    # raise when the image recipe changes
IMG=$CACHE/guest-$SUITE-$KMETA-$RECIPE

die() { echo "softroce-guest: $*" >&2; exit 125; }
note() { echo "softroce-guest: $*" >&2; }

# ------------------------------------------------------------------ build
apt_root() {                                # a private apt: never touches the host's
  [ -n "$MIRROR" ] || die "no mirror of Debian among apt's sources: expected=SOFTROCE_MIRROR and SOFTROCE_SECURITY"
  A=$CACHE/apt-$SUITE; mkdir -p "$A"/{state/lists/partial,cache/archives/partial,etc/trusted.gpg.d}
  : > "$A/status"
  local key=/usr/share/keyrings/debian-archive-keyring.gpg opt=
  [ -r $key ] && opt="signed-by=$key " || { note "no debian-archive-keyring: unsigned fetch"; opt="trusted=yes "; }
  { echo "deb [${opt}arch=amd64] $MIRROR $SUITE main"
    echo "deb [${opt}arch=amd64] $SECURITY $SUITE-security main"; } > "$A/etc/sources.list"
  APT=(-qq -o Dir::State="$A/state" -o Dir::State::status="$A/status" -o Dir::Cache="$A/cache"
       -o Dir::Etc::sourcelist="$A/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null
       -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o Acquire::Languages=none
       -o APT::Sandbox::User= -o Debug::NoLocking=1 -o APT::Install-Recommends=0
       -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
  [ -n "$(find "$A/state/lists" -maxdepth 1 -name '*Packages*' -mmin -720 2>/dev/null | head -1)" ] ||
    apt-get "${APT[@]}" update
}
closure() {                                 # .deb paths of "$@" with all dependencies
  apt-get "${APT[@]}" -y --download-only install "$@" >/dev/null
  apt-get "${APT[@]}" -s install "$@" | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' |
    while read -r p v; do ls "$A/cache/archives/${p}_${v//:/%3a}"_*.deb; done
}
unpack() {                                  # unpack DIR DEB..: onto a merged-/usr tree
  local d=$1 f; shift
  mkdir -p "$d"/usr/{bin,sbin,lib,lib64}
  for f in bin sbin lib lib64; do [ -e "$d/$f" ] || ln -s usr/$f "$d/$f"; done
  for f; do dpkg-deb --fsys-tarfile "$f" | tar -x -C "$d" --keep-directory-symlink --no-same-owner \
              --exclude='./usr/share/doc*' --exclude='./usr/share/man*' --exclude='./usr/share/locale*' \
              --exclude='./usr/share/info*' --exclude='./usr/lib/python*' --exclude='./usr/share/perl*' \
              --exclude='./usr/lib/x86_64-linux-gnu/perl*' --exclude='./usr/lib/x86_64-linux-gnu/gconv*'; done
}
build() {
  mkdir -p "$CACHE"
  exec 9>"$CACHE/lock"; flock 9             # parallel builders wait for the first
  ensure_qemu
  [ -f "$IMG/ok" ] && { exec 9>&-; return; }
  local t0=$SECONDS; w=$(mktemp -d "$CACHE/work.XXXXXX")
  trap 'rm -rf "$w"' EXIT
  apt_root
  local kdeb; kdeb=$(apt-cache "${APT[@]}" depends "$KMETA" | awk '/Depends: linux-image-/{print $2; exit}')
  [ -n "$kdeb" ] || die "no kernel package for $KMETA"
  (cd "$A/cache/archives" && apt-get "${APT[@]}" download "$kdeb") & local kpid=$!
  local debs; debs=$(closure $GUEST_PKGS)
  local r=$w/root; mkdir -p "$r"
  # rootfs: the tools' closure without what a headless run never opens
  unpack "$r" $(grep -vE '/(perl|debconf|dpkg|tar|libperl|adduser|passwd|login|udev|systemd|init-system|libpam|libgdbm|cdebconf|gcc-12-base|sensible|mawk|base-|debian)[^/]*$' <<<"$debs")
  wait $kpid
  local kfile; kfile=$(ls -t "$A/cache/archives/$kdeb"_*.deb | head -1)
  mkdir "$w/k"; dpkg-deb --fsys-tarfile "$kfile" | tar -x -C "$w/k" --no-same-owner --exclude=./usr/share
  local kmod=$w/k/lib/modules kver; [ -d "$kmod" ] || kmod=$w/k/usr/lib/modules; kver=$(ls "$kmod")
  # modules: dependency closure, decompressed, in load order
  mkdir -p "$r/mods"; find "$kmod" -name '*.ko*' > "$w/ko"; : > "$r/mods/order"
  addmod() {
    local m=$1 f d
    grep -qx "$m.ko" "$r/mods/order" && return 0
    f=$(grep -E "/${m//_/[-_]}\.ko(\.xz|\.zst)?$" "$w/ko" | head -1 || true)
    [ -n "$f" ] || return 0                 # built in
    case $f in *.xz) xz -dc "$f" > "$r/mods/$m.ko";; *.zst) zstd -qdc "$f" > "$r/mods/$m.ko";;
               *) cp "$f" "$r/mods/$m.ko";; esac
    for d in $(tr '\0' '\n' < "$r/mods/$m.ko" | grep -a '^depends=' | head -1 | cut -d= -f2 | tr ',-' ' _'); do
      addmod "$d"; done
    echo "$m.ko" >> "$r/mods/order"
  }
  local m; for m in $MODULES; do addmod "$m"; done
  [ -f "$r/mods/rdma_rxe.ko" ] || die "$kdeb has no rdma_rxe"
  mkdir -p "$r"/{proc,sys,dev,run,tmp,share,mnt,bb,root,etc,var/run}
  printf 'root:x:0:0:root:/root:/bin/sh\n' > "$r/etc/passwd"; printf 'root:x:0:\n' > "$r/etc/group"
  printf '127.0.0.1 localhost guest\n' > "$r/etc/hosts"
  ln -sf dash "$r/bin/sh"                     # busybox sh would prefer its own "ip" applet
  guest_files "$r"
  rm -rf "$r"/usr/share/{bash-completion,lintian,bug,perl*,zoneinfo,common-licenses} "$r"/var/lib/dpkg
  mkdir -p "$w/img"
  (cd "$r" && find . | LC_ALL=C sort | ./usr/bin/busybox cpio -o -H newc -R 0:0 2>/dev/null) > "$w/img/initrd"
  cp "$w"/k/boot/vmlinuz-* "$w/img/vmlinuz"
  { echo "kernel $kver ($(basename "$kfile"))"; sed 's,.*/,,' <<<"$debs"; } > "$w/img/versions"
  touch "$w/img/ok"; rm -rf "$IMG"; mv "$w/img" "$IMG"; rm -rf "$w"; trap - EXIT
  rm -f "$A"/cache/archives/*.deb           # only what a boot needs stays in the cache
  exec 9>&-
  note "built $IMG ($(du -sh "$IMG" | cut -f1), kernel $kver) in $((SECONDS - t0)) s"
}
cached() {
  [ -f "$IMG/ok" ] && [ -f "$CACHE/headers-$SUITE/ok" ] &&
    { [ -n "${SOFTROCE_QEMU:-}" ] || command -v qemu-system-x86_64 >/dev/null || [ -f "$CACHE/qemu-$SUITE/ok" ]; }
}
ensure_qemu() {
  if [ -n "${SOFTROCE_QEMU:-}" ]; then QEMU=("$SOFTROCE_QEMU"); return; fi
  if command -v qemu-system-x86_64 >/dev/null; then QEMU=(qemu-system-x86_64); return; fi
  local q=$CACHE/qemu-$SUITE
  if [ ! -f "$q/ok" ]; then
    note "fetching Debian's QEMU into $q"; apt_root; rm -rf "$q"; mkdir -p "$q"
    unpack "$q" $(closure qemu-system-x86 | grep -vE '/(perl|debconf|adduser|passwd|login|udev|systemd|gstreamer|ipxe|fontconfig|fonts)[^/]*$')
    touch "$q/ok"
  fi
  local l=$q/usr/lib/x86_64-linux-gnu       # its own loader and libraries: host-independent
  export QEMU_MODULE_DIR=$l/qemu
  QEMU=("$q/usr/lib64/ld-linux-x86-64.so.2" --library-path "$l:$l/pulseaudio:$q/usr/lib" "$q/usr/bin/qemu-system-x86_64"
        -L "$q/usr/share/qemu" -L "$q/usr/share/seabios" -L "$q/usr/lib/ipxe/qemu")
}
headers() {                                 # prints the root of what a C program is built with
  local h=$CACHE/headers-$SUITE
  mkdir -p "$CACHE"
  exec 9>"$CACHE/lock"; flock 9
  if [ ! -f "$h/ok" ]; then
    apt_root; rm -rf "$h"; mkdir -p "$h"
    local debs
    debs=$(closure libibverbs-dev librdmacm-dev | grep -E '/(libibverbs|librdmacm|libnl-)[^/]*$')
    unpack "$h" $debs
    test -f "$h/usr/include/infiniband/verbs.h"
    rm -f "$A"/cache/archives/*.deb; touch "$h/ok"
  fi
  exec 9>&-
  echo "$h"
}
guest_files() {                             # the guest's own scripts
  local r=$1; mkdir -p "$r/usr/local/bin"
  cat > "$r/init" <<'G'
#!/bin/sh
/bin/busybox --install -s /bb
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/bb HOME=/root TERM=dumb
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm; mount -t devpts pts /dev/pts; mount -t tmpfs tmp /dev/shm; mount -t tmpfs tmp /tmp; mount -t tmpfs tmp /run
while read -r m; do insmod /mods/$m || echo "insmod $m failed"; done < /mods/order
ulimit -l unlimited
arg() { sed -n "s/.*\<sr\.$1=\([^ ]*\).*/\1/p" /proc/cmdline; }
mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none share /share
grep -q mnt /sys/bus/virtio/drivers/9pnet_virtio/virtio*/mount_tag 2>/dev/null &&
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=loose,ro mnt /mnt
hostname guest$(arg host); ip link set lo up
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
echo 0 > /proc/sys/net/ipv6/conf/all/accept_dad
if [ -d /sys/class/net/eth0 ]; then
  echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad
  ip link set eth0 mtu 9000 2>/dev/null; ip link set eth0 up
  ip addr add 10.77.0.$(arg host)/24 dev eth0; ip addr add fd77::$(arg host)/64 dev eth0 nodad
  rdma link add rxe0 type rxe netdev eth0
fi
S=/share/.softroce
echo "guest up after $(cut -d' ' -f1 /proc/uptime) s, kernel $(uname -r)"
if [ -f $S/cmd ]; then                      # one command, output on ttyS1
  stty -F /dev/ttyS1 raw -echo 2>/dev/null
  cd /share; sh $S/cmd < /dev/null > /dev/ttyS1 2>&1; echo $? > $S/rc.tmp; mv $S/rc.tmp $S/rc
else                                        # commands from files until "stop"
  mkdir -p $S/req; touch $S/up
  while [ ! -e $S/stop ]; do
    for f in $S/req/*.cmd; do
      [ -e "$f" ] || continue
      b=${f%.cmd}; mv $f $b.run
      (cd /share; sh $b.run < /dev/null > $b.out 2>&1; echo $? > $b.rct; mv $b.rct $b.rc) &
    done
    usleep 20000
  done
  touch $S/down
fi
cd /; sync; umount /share 2>/dev/null; reboot -f
G
  cat > "$r/usr/local/bin/gid" <<'G'
#!/bin/sh
# gid DEV ADDR: index of ADDR (IPv4, IPv6) in DEV's GID table
want=$(case $2 in *.*) IFS=.; set -- $2; printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' $1 $2 $3 $4;; *) echo $2;; esac)
case $want in *::*) h=${want%%::*}; t=${want##*::}; n=$(echo "$h:$t" | tr ':' '\n' | grep -c .); z=; i=$n
  while [ $i -lt 8 ]; do z="$z 0"; i=$((i+1)); done
  want=$(for x in $(echo $h | tr ':' ' ') $z $(echo $t | tr ':' ' '); do printf ':%04x' 0x$x; done); want=${want#:};; esac
i=0; while [ $i -lt 64 ]; do
  [ "$(cat /sys/class/infiniband/$1/ports/1/gids/$i 2>/dev/null)" = "$want" ] && { echo $i; exit 0; }
  i=$((i+1)); done; echo "gid: $2 not on $1" >&2; exit 1
G
  cat > "$r/usr/local/bin/rxe-pair" <<'G'
#!/bin/sh
# rxe-pair [MTU]: rxeA <-> rxeB over a veth wire inside one guest
set -e
ip link add vethA address 02:00:00:78:00:01 type veth peer name vethB address 02:00:00:78:00:02
for x in A B; do
  echo 0 > /proc/sys/net/ipv6/conf/veth$x/accept_dad; echo 0 > /proc/sys/net/ipv6/conf/veth$x/accept_ra
  echo 0 > /proc/sys/net/ipv4/conf/veth$x/rp_filter;  echo 1 > /proc/sys/net/ipv4/conf/veth$x/accept_local
  ip link set veth$x mtu ${1:-9000}; ip link set veth$x up
done
echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
# both ends are local: look routes up by interface first, deliver locally on input
for f in -4 -6; do
  ip $f rule add pref 1 iif vethA lookup local; ip $f rule add pref 1 iif vethB lookup local
  ip $f rule add pref 2 oif vethA lookup 78;    ip $f rule add pref 3 oif vethB lookup 79
  ip $f rule add pref 9 lookup local;           ip $f rule del pref 0
done
n=1; for x in A B; do
  ip addr add 10.78.0.$n/24 dev veth$x; ip addr add fd78::$n/64 dev veth$x nodad; n=$((n+1)); done
ip route add 10.78.0.0/24 dev vethA table 78; ip route add 10.78.0.0/24 dev vethB table 79
ip -6 route add fd78::/64 dev vethA table 78; ip -6 route add fd78::/64 dev vethB table 79
ip neigh replace 10.78.0.2 lladdr 02:00:00:78:00:02 dev vethA; ip neigh replace 10.78.0.1 lladdr 02:00:00:78:00:01 dev vethB
ip neigh replace fd78::2 lladdr 02:00:00:78:00:02 dev vethA;   ip neigh replace fd78::1 lladdr 02:00:00:78:00:01 dev vethB
rdma link add rxeA type rxe netdev vethA; rdma link add rxeB type rxe netdev vethB
G
  chmod 755 "$r/init" "$r"/usr/local/bin/*
}

# ------------------------------------------------------------------ boot
boot_args() {                               # sets SHARE CMDLINE ARGS TIMEOUT REST
  local mem=512 cpus=2 host=2 append= dump= mnt= n=0
  local -a nets=() accel=(); SHARE=; TIMEOUT=120; REST=()
  while [ $# -gt 0 ]; do
    case $1 in
      --net) nets+=("$2"); shift 2;;      --host) host=$2; shift 2;;
      --share) SHARE=$2; shift 2;;        --mount) mnt=$2; shift 2;;
      --dump) dump=$2; shift 2;;          --mem) mem=$2; shift 2;;
      --cpus) cpus=$2; shift 2;;          --timeout) TIMEOUT=$2; shift 2;;
      --append) append=$2; shift 2;;      --) shift; break;;
      *) break;;
    esac
  done
  REST=("$@")
  OWN=; [ -n "$SHARE" ] || { SHARE=$(mktemp -d "${TMPDIR:-/tmp}/softroce.XXXXXX"); OWN=$SHARE; }
  SHARE=$(cd "$SHARE" && pwd); rm -rf "$SHARE/.softroce"; mkdir -p "$SHARE/.softroce"
  [ -z "$OWN" ] || touch "$SHARE/.softroce/own"           # stop removes the folder
  case $ACCEL in
    kvm) accel=(-accel kvm -cpu host);;
    tcg) accel=(-accel tcg,thread=multi -cpu max);;
    auto) if [ -r /dev/kvm ] && [ -w /dev/kvm ] && kvm_works; then accel=(-accel kvm -cpu host)
          else accel=(-accel tcg,thread=multi -cpu max); fi;;
    *) die "SOFTROCE_ACCEL=$ACCEL";;
  esac
  ARGS=("${accel[@]}" -M pc -m "$mem" -smp "$cpus" -nodefaults -no-user-config -display none -no-reboot
        -kernel "$IMG/vmlinuz" -initrd "$IMG/initrd"
        -serial "file:$SHARE/.softroce/console"
        -device virtio-rng-pci
        -fsdev "local,id=s,path=$SHARE,security_model=none" -device virtio-9p-pci,fsdev=s,mount_tag=share)
  [ -z "$mnt" ] || ARGS+=(-fsdev "local,id=m,path=$mnt,security_model=none,readonly=on" -device virtio-9p-pci,fsdev=m,mount_tag=mnt)
  [ ${#nets[@]} -gt 0 ] || nets=(none)
  local s a b
  for s in "${nets[@]}"; do
    case $s in
      none)   ARGS+=(-netdev "user,id=n$n,restrict=on,ipv6=off,net=10.99.$n.0/24");;
      tap:*)  ARGS+=(-netdev "tap,id=n$n,ifname=${s#tap:},script=no,downscript=no");;
      udp:*)  IFS=: read -r _ a b <<<"$s"
              ARGS+=(-netdev "dgram,id=n$n,local.type=inet,local.host=127.0.0.1,local.port=$a,remote.type=inet,remote.host=127.0.0.1,remote.port=$b");;
      unix:*) IFS=: read -r _ a b <<<"$s"
              ARGS+=(-netdev "dgram,id=n$n,local.type=unix,local.path=$a,remote.type=unix,remote.path=$b");;
      *) die "--net $s";;
    esac
    ARGS+=(-device "virtio-net-pci,netdev=n$n,mac=$(printf '02:00:00:77:%02x:%02x' $n "$host"),host_mtu=9000,romfile=")
    n=$((n + 1))
  done
  [ -z "$dump" ] || ARGS+=(-object "filter-dump,id=d0,netdev=n0,file=$dump")
  ARGS+=(-append "console=ttyS0 quiet loglevel=4 panic=-1 reboot=t rdinit=/init mitigations=off no_timer_check net.ifnames=0 sr.host=$host $append")
}
kvm_works() {                               # KVM must really run guest code here
  local f=$CACHE/kvm-$(uname -r)
  [ -s "$f" ] || { mkdir -p "$CACHE"; build
    if timeout 8 "${QEMU[@]}" -accel kvm -cpu host -M pc -m 256 -nodefaults -display none -no-reboot -kernel "$IMG/vmlinuz" \
         -append "console=ttyS0 panic=-1 quiet reboot=t" -serial stdio </dev/null 2>&1 | grep -q 'Kernel panic'
    then echo yes > "$f"; else echo no > "$f"; note "KVM unusable: software emulation"; fi; }
  [ "$(cat "$f")" = yes ]
}
console_tail() { echo "--- guest console" >&2; tail -n 40 "$SHARE/.softroce/console" >&2 || true; }

case ${1:-} in
build) build;;
cached) cached;;
headers) headers;;
run)
  shift; build; boot_args "$@"; [ ${#REST[@]} -gt 0 ] || die "no command"
  printf '%s\n' "${REST[*]}" > "$SHARE/.softroce/cmd"
  set +e
  timeout --foreground -k 5 "$TIMEOUT" "${QEMU[@]}" "${ARGS[@]}" -chardev stdio,id=o,signal=off -serial chardev:o </dev/null
  q=$?
  set -e
  if [ -f "$SHARE/.softroce/rc" ]; then rc=$(cat "$SHARE/.softroce/rc"); rm -rf "${OWN:-$SHARE/.softroce}"; exit "$rc"; fi
  console_tail; [ $q = 124 ] && die "timed out after $TIMEOUT s"; die "guest died (qemu status $q)";;
start)
  shift; build; TIMEOUT=0; boot_args "$@"
  "${QEMU[@]}" "${ARGS[@]}" -serial null </dev/null >"$SHARE/.softroce/qemu" 2>&1 &
  pid=$!; echo $pid > "$SHARE/.softroce/pid"; disown
  for _ in $(seq 1800); do [ -e "$SHARE/.softroce/up" ] && { echo "$SHARE"; exit 0; }
    kill -0 $pid 2>/dev/null || { cat "$SHARE/.softroce/qemu" >&2; console_tail; die "guest died"; }; sleep 0.1; done
  console_tail; kill $pid; die "guest not up after 180 s";;
exec)
  S=$2/.softroce; shift 2; b=$(mktemp "$S/req/XXXXXXXX"); printf '%s\n' "$*" > "$b.tmp"; mv "$b.tmp" "$b.cmd"
  until [ -e "$b.rc" ]; do kill -0 "$(cat "$S/pid")" 2>/dev/null || { cat "$b.out" 2>/dev/null; die "guest is gone"; }; sleep 0.02; done
  cat "$b.out"; rc=$(cat "$b.rc"); rm -f "$b" "$b".*; exit "$rc";;
stop)
  S=$2/.softroce; pid=$(cat "$S/pid"); touch "$S/stop"
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
  ! kill -0 "$pid" 2>/dev/null || kill "$pid"
  [ ! -e "$S/own" ] || rm -rf "$2";;
with-tap)
  shift; [ $# -gt 0 ] || die "with-tap CMD..."
  u=-n; [ "$(id -u)" = 0 ] || u=-Urn
  exec unshare $u -- bash -c 'ip tuntap add srtap0 mode tap && ip link set lo up && ip link set srtap0 address 02:00:00:77:00:01 mtu 9000 &&
    { echo 0 > /proc/sys/net/ipv6/conf/srtap0/accept_dad; } 2>/dev/null; ip link set srtap0 up &&
    ip addr add 10.77.0.1/24 dev srtap0 && ip addr add fd77::1/64 dev srtap0 nodad && exec "$@"' with-tap "$@";;
*) sed -n '2,/^set -euo/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2;;
esac
