package io.softdpu.block.file;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.block.spi.DeviceFailures;
import io.softdpu.block.spi.MemoryUser;
import io.softdpu.block.spi.ProviderChannel;
import io.softdpu.block.spi.ProviderDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.ContextServices;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileBlocks;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Uring;
import io.softdpu.linux.file.CheckedFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Blocks in a file, or in a block device of the machine. */
final class FileDevice implements ProviderDevice {
    private static final System.Logger LOG = System.getLogger(FileDevice.class.getName());

    /** Length of a request in bytes beyond which a longer one is no faster. */
    private static final long PREFERRED_REQUEST_BYTES = 1 << 20;

    /** Longest request in bytes: that of the usual block devices of Linux, and of NBD. */
    private static final long MAX_REQUEST_BYTES = 32 << 20;

    /** Threads where io_uring is refused. */
    private static final int THREADS_INSTEAD = 4;

    /** Threads beside io_uring, for what it has no operation for. */
    private static final int THREADS_BESIDE = 1;

    /** Zeros that are written at a time, in bytes: other requests go between. */
    private static final int ZEROS_BYTES = 256 << 10;

    private static final int ZEROS_ALIGNMENT_BYTES = 4096;

    private final CheckedFile opened;
    private final FileOptions options;
    private final FileLock lock;
    private final VolumeAbilities abilities;
    private final VolumeLoss loss;
    private final BlockProperties properties;
    private final DeviceFailures failures;
    private final boolean byThreads;
    private final Workers workers;
    private final MemorySegment zeros = Arena.ofAuto().allocate(ZEROS_BYTES, ZEROS_ALIGNMENT_BYTES);

    /** Whether punching a hole to make zeros was refused. */
    private volatile boolean zeroesByNoHoles;

    /** Whether zeroing a range that stays allocated was refused. */
    private volatile boolean zeroesNoRanges;

    private FileDevice(CheckedFile opened, FileOptions options, FileLock lock, FileCheck check) {
        this.opened = opened;
        this.options = options;
        this.lock = lock;
        int fd = opened.descriptor();
        boolean blockDevice = FileDescriptors.status(fd).isBlockDevice();
        boolean writable = !options.readOnly();
        int alignmentBytes = check.requireUsable(fd, opened.sizeBytes());
        abilities = VolumeAbilities.of(fd, blockDevice, writable, opened.sizeBytes());
        @Nullable String refusal = options.threads() > 0 ? null : Uring.refusal();
        byThreads = options.threads() > 0 || refusal != null;
        int threads = threads();
        properties =
                new BlockProperties(
                        opened.sizeBytes(),
                        check.blockSizeBytes(),
                        PREFERRED_REQUEST_BYTES,
                        MAX_REQUEST_BYTES,
                        alignmentBytes,
                        features(),
                        describe(threads, refusal));
        failures = new DeviceFailures(properties.description());
        loss =
                new VolumeLoss(
                        fd,
                        VolumeIdentity.open(fd, options.file(), writable),
                        properties.description(),
                        failures);
        requireLossReports(fd, options.file());
        workers = new Workers(threads, "softdpu-block-" + options.file().getFileName());
        if (refusal != null) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "block device uses threads in place of io_uring: " + properties.description());
        }
    }

    /** Else a refused call would be taken for a loss. */
    private static void requireLossReports(int fd, Path file) {
        int errno = FileIo.takeLossReport(fd);
        if (errno == Errno.ENOSYS || errno == Errno.EPERM || errno == Errno.EACCES) {
            throw FileFailures.refused(
                    Status.NOT_SUPPORTED,
                    file,
                    "the system refuses sync_file_range, errno=" + Errno.name(errno),
                    "a sandbox that allows it",
                    null);
        }
    }

    /**
     * Opens a file, and creates it if that is wanted.
     *
     * @throws DpuException naming the file
     */
    static FileDevice open(FileOptions options, int blockSizeBytes) {
        Path file = options.file();
        FileCheck check = new FileCheck(options, blockSizeBytes);
        if (options.createBytes() > 0) {
            FileCreation.createIfMissing(file, options.createBytes(), check);
        }
        CheckedFile opened = openFile(options);
        boolean used = false;
        try {
            FileLock lock =
                    FileLock.acquire(
                            opened.descriptor(), file, options.readOnly(), options.lockWait());
            FileDevice device = new FileDevice(opened, options, lock, check);
            used = true;
            return device;
        } catch (LinuxException e) {
            throw FileFailures.of(file, "open", e);
        } finally {
            if (!used) {
                opened.close();
            }
        }
    }

    /** Opens the file, and waits for a block device that is in use. */
    private static CheckedFile openFile(FileOptions options) {
        Path file = options.file();
        CheckedFile[] opened = new CheckedFile[1];
        boolean done =
                FileLock.await(
                        options.lockWait(),
                        () -> {
                            try {
                                opened[0] = CheckedFile.openVolume(file, !options.readOnly());
                                return true;
                            } catch (IOException e) {
                                if (isBusy(e)) {
                                    return false;
                                }
                                throw FileFailures.of(file, e);
                            }
                        });
        if (!done) {
            throw FileLock.inUse(
                    file, "it is mounted, or another process uses it", options.lockWait());
        }
        return opened[0];
    }

    private static boolean isBusy(IOException e) {
        return e.getCause() instanceof LinuxException cause && cause.errno() == Errno.EBUSY;
    }

    private int threads() {
        if (options.threads() > 0) {
            return options.threads();
        }
        return byThreads ? THREADS_INSTEAD : THREADS_BESIDE;
    }

    private Set<BlockFeature> features() {
        Set<BlockFeature> features = EnumSet.of(BlockFeature.FLUSH, BlockFeature.PERSISTENT);
        if (abilities.findsHoles()) {
            features.add(BlockFeature.EXTENTS);
        }
        if (options.readOnly()) {
            features.add(BlockFeature.READ_ONLY);
            return features;
        }
        features.add(BlockFeature.FUA);
        features.add(BlockFeature.WRITE_ZEROES);
        if (abilities.punchesHoles()) {
            features.add(BlockFeature.DISCARD);
        }
        return features;
    }

    private String describe(int threads, @Nullable String refusal) {
        return options.file()
                + " (method="
                + method()
                + (byThreads ? ", threads=" + threads : "")
                + (refusal == null ? "" : ", io_uring is refused: " + refusal)
                + ", cache="
                + (options.direct() ? "none" : "pages")
                + (options.sync() ? ", every write is durable" : "")
                + ")";
    }

    // ---- the device ----

    @Override
    public BlockProperties properties() {
        return properties;
    }

    @Override
    public BlockIdentity identity() {
        return loss.identity();
    }

    /** Waits for the file; the library finds it done, by a thread of the device. */
    @Override
    public void renewIdentity() {
        loss.renewIdentity();
    }

    /** A write that has failed is none of what was acknowledged; a sync that has failed is. */
    @Override
    public boolean mayHaveLost() {
        return loss.isKnown();
    }

    @Override
    public MemoryUser memoryUser() {
        return MemoryUser.KERNEL;
    }

    @Override
    public String method() {
        return byThreads ? "threads" : "io_uring";
    }

    @Override
    public boolean isWriteThrough() {
        return options.sync();
    }

    @Override
    public ProviderChannel openChannel(ContextServices services, int maxRequests) {
        try {
            int fd = FileDescriptors.reopen(opened.descriptor(), options.accessFlags());
            int place = -1;
            boolean made = false;
            try {
                place = lock.lock(fd);
                boolean _ = loss.learn(); // of which the kernel tells that file nothing
                StepChannel channel =
                        byThreads
                                ? new ThreadsChannel(this, fd, place, services, maxRequests)
                                : new UringChannel(this, fd, place, services, maxRequests);
                workers.add(channel);
                made = true;
                return channel;
            } finally {
                if (!made) {
                    FileDescriptors.close(fd);
                    if (place >= 0) {
                        lock.release(place);
                    }
                }
            }
        } catch (LinuxException e) {
            throw FileFailures.of(options.file(), "start of a context", e);
        }
    }

    /**
     * Makes what was written durable, notes that nothing can be lost, and closes the file.
     *
     * @throws DpuException IO_FAILED if that is not so; it is closed anyway
     */
    @Override
    public void close() {
        workers.close();
        failures.close();
        try {
            if (!options.readOnly()) {
                loss.close();
            }
        } finally {
            opened.close();
        }
    }

    // ---- for its channels ----

    boolean isDirect() {
        return options.direct();
    }

    /** The log of failures. */
    DeviceFailures failures() {
        return failures;
    }

    Workers workers() {
        return workers;
    }

    VolumeLoss loss() {
        return loss;
    }

    /** Zeros to be written. */
    MemorySegment zeros() {
        return zeros;
    }

    /** The mode by which the file system makes zeros; 0 if they are to be written. */
    int zeroMode(boolean keepAllocated) {
        if (!keepAllocated && abilities.punchesHoles() && !zeroesByNoHoles) {
            return FileBlocks.PUNCH_HOLE | FileBlocks.KEEP_SIZE;
        }
        return zeroesNoRanges ? 0 : FileBlocks.ZERO_RANGE | FileBlocks.KEEP_SIZE;
    }

    /** The file system has refused to make zeros by this mode, which is not used any more. */
    void refusesZeros(int mode) {
        if ((mode & FileBlocks.PUNCH_HOLE) != 0) {
            zeroesByNoHoles = true;
        } else {
            zeroesNoRanges = true;
        }
    }

    /** A channel has closed its open file. */
    void channelClosed(StepChannel channel, int place) {
        workers.remove(channel);
        lock.release(place);
    }
}
