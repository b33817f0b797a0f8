package io.softdpu.block.file;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.linux.Errno;
import io.softdpu.linux.ExtendedAttributes;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Identity of a volume, kept in an extended attribute of its file: 16 bytes of identity, 16 of the
 * kernel's boot id, and a mark, 1 while nothing can be lost.
 *
 * <p>What a process has written is safe from its end as long as the kernel runs. So a volume that
 * is opened again by the same boot keeps its identity, and one that is opened by another boot keeps
 * it if it had been closed. What it has written may still fail to become durable: so an open syncs,
 * and a failure is another identity too. Where the file has no such attributes it is random at each
 * open.
 *
 * <p>Any thread; the device calls one at a time.
 */
final class VolumeIdentity {
    /** Name of the attribute. */
    static final String ATTRIBUTE = "user.softdpu.identity";

    private static final System.Logger LOG = System.getLogger(VolumeIdentity.class.getName());
    private static final UUID NO_BOOT = new UUID(0, 0);
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    private static final int BOOT_BYTES = 16;
    private static final int RECORD_BYTES = BlockIdentity.SIZE_BYTES + BOOT_BYTES + 1;
    private static final byte CLEAN = 1;

    /** Content of the attribute. */
    private record Kept(BlockIdentity identity, UUID boot, boolean clean) {
        static @Nullable Kept ofBytes(byte[] bytes) {
            if (bytes.length != RECORD_BYTES) {
                return null;
            }
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            BlockIdentity identity = new BlockIdentity(buffer.getLong(), buffer.getLong());
            UUID boot = new UUID(buffer.getLong(), buffer.getLong());
            return new Kept(identity, boot, buffer.get() == CLEAN);
        }

        byte[] toBytes() {
            return ByteBuffer.allocate(RECORD_BYTES)
                    .put(identity.toBytes())
                    .putLong(boot.getMostSignificantBits())
                    .putLong(boot.getLeastSignificantBits())
                    .put(clean ? CLEAN : 0)
                    .array();
        }
    }

    private final int fd;
    private final Path file;
    private final UUID boot;
    private final boolean recorded;
    private volatile BlockIdentity identity;

    private VolumeIdentity(int fd, Path file, UUID boot, boolean recorded, BlockIdentity identity) {
        this.fd = fd;
        this.file = file;
        this.boot = boot;
        this.recorded = recorded;
        this.identity = identity;
    }

    /**
     * Reads the identity, or makes one, and notes that the volume is open.
     *
     * @param fd the open file, which stays open longer than this is used
     * @param writable whether the attribute may be written
     * @throws io.softdpu.core.DpuException naming the file, if the boot id cannot be read
     * @throws LinuxException if the note cannot be made durable
     */
    static VolumeIdentity open(int fd, Path file, boolean writable) {
        UUID boot = bootId(file);
        @Nullable Kept kept;
        try {
            Optional<byte[]> bytes = ExtendedAttributes.get(fd, ATTRIBUTE);
            kept = bytes.isPresent() ? Kept.ofBytes(bytes.get()) : null;
        } catch (LinuxException e) {
            requireMissing(e);
            return new VolumeIdentity(fd, file, boot, false, BlockIdentity.random());
        }
        BlockIdentity identity =
                kept != null && (kept.clean || kept.boot.equals(boot))
                        ? kept.identity
                        : BlockIdentity.random();
        if (writable) {
            try {
                // Of no boot until the sync: the kernel reports a loss once, and this process may
                // be killed behind that report.
                ExtendedAttributes.set(fd, ATTRIBUTE, new Kept(identity, NO_BOOT, false).toBytes());
            } catch (LinuxException e) {
                requireMissing(e);
                return new VolumeIdentity(fd, file, boot, false, BlockIdentity.random());
            }
            try {
                // Also if nothing has changed: an earlier user may have been killed.
                FileIo.sync(fd);
            } catch (LinuxException e) { // bytes of an earlier user were lost
                identity = BlockIdentity.random();
                FileIo.sync(fd);
            }
            ExtendedAttributes.set(fd, ATTRIBUTE, new Kept(identity, boot, false).toBytes());
        }
        return new VolumeIdentity(fd, file, boot, writable, identity);
    }

    /** Passes where the file has no such attributes, such as a device or a file of NFS. */
    private static void requireMissing(LinuxException e) {
        boolean missing =
                switch (e.errno()) {
                    case Errno.EOPNOTSUPP, Errno.EPERM, Errno.EACCES -> true;
                    default -> e.call().equals("fsetxattr"); // no room for it
                };
        if (!missing) {
            throw e;
        }
    }

    private static UUID bootId(Path file) {
        try (CheckedFile bootId = CheckedFile.open(BOOT_ID, FilePolicy.USER_TEXT)) {
            return UUID.fromString(bootId.readText().strip());
        } catch (IOException e) { // as without a free descriptor
            throw FileFailures.of(file, e);
        }
    }

    /** The present identity. */
    BlockIdentity get() {
        return identity;
    }

    /** Takes another identity. A failure to note it is logged. */
    void renew() {
        identity = BlockIdentity.random();
        note(false);
    }

    /** Notes that nothing can be lost, for a volume whose bytes are durable. */
    void close() {
        note(true);
    }

    private void note(boolean clean) {
        if (!recorded) {
            return;
        }
        try {
            ExtendedAttributes.set(fd, ATTRIBUTE, new Kept(identity, boot, clean).toBytes());
            FileIo.sync(fd);
        } catch (LinuxException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "identity of a block device is not durable: file="
                            + file
                            + ", identity="
                            + identity
                            + ", failure="
                            + Reason.of(e));
        }
    }
}
