package io.softdpu.block.contract;

import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.device.Device;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Base class of the contract tests: the environment, and what is closed after the test. */
@SoftDpuTest(sanitized = false)
public abstract class BlockContract {
    /** Size of a device, unless a test is about it. */
    static final int DEVICE_BYTES = 1 << 20;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private @Nullable SoftDpu card;
    private @Nullable Path folder;

    /** For subclasses. */
    protected BlockContract() {}

    /** The environment. */
    protected abstract BlockTestEnvironment environment();

    @BeforeEach
    final void begin(SoftDpu given, @TempDir Path temporary) {
        card = given;
        folder = temporary;
    }

    @AfterEach
    final void closeAll() {
        assertAll(opened.stream().map(each -> (Executable) each::close));
    }

    /** Closes an object after the test. */
    final <T extends AutoCloseable> T add(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    final SoftDpu card() {
        if (card == null) {
            throw new IllegalStateException("outside a test");
        }
        return card;
    }

    final Device device() {
        return card().dpuDevice();
    }

    /** Opens a device that is not attached. */
    final BlockDevice openDetached() {
        return openDetached(DEVICE_BYTES);
    }

    private BlockDevice openDetached(long sizeBytes) {
        if (folder == null) {
            throw new IllegalStateException("outside a test");
        }
        return add(environment().open(folder, sizeBytes, block()));
    }

    /** Opens a device that is attached. */
    final BlockDevice open() {
        return open(DEVICE_BYTES);
    }

    /** Opens a device of another size that is attached. */
    final BlockDevice open(long sizeBytes) {
        BlockDevice blockDevice = openDetached(sizeBytes);
        blockDevice.attach(device());
        return blockDevice;
    }

    /** Starts a context of a device with 16 tasks of each type. */
    final Submitter start(BlockDevice blockDevice) {
        return add(Submitter.start(blockDevice, 16));
    }

    /** Starts a context of a device of its own. */
    final Submitter start() {
        return start(open());
    }

    /** Size of a block. */
    final int block() {
        return environment().blockSizeBytes();
    }

    /** What a read has to deliver after this was written. */
    final byte[] kept(byte[] written) {
        return environment().keepsBlocks() ? written : new byte[written.length];
    }
}
