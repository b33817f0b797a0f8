package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.block.BlockDevice;
import io.softdpu.block.property.BlockProperties;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.StartsProcesses;
import java.nio.charset.StandardCharsets;

/** URIs of block devices, which come from command lines and files. */
@StartsProcesses
class BlockUriFuzzTest {
    private static final int BLOCK = 512;
    private static final String MISSING = "/proc/no-folder-of-this-name/volume";

    /** The size of a device without blocks, which opens no file and takes no memory. */
    @FuzzTest
    void size(byte[] text) {
        String size = new String(text, StandardCharsets.UTF_8);
        BlockDevice device = Refused.orValue(() -> BlockDevice.open("null:" + size, BLOCK));
        if (device != null) {
            BlockProperties properties = device.properties();
            device.close();
            long bytes = properties.sizeBytes();
            if (bytes <= 0 || bytes % BLOCK != 0) {
                throw new AssertionError("not a size: sizeBytes=" + bytes + ", text=" + size);
            }
            BlockDevice again = BlockDevice.open("null:" + bytes, BLOCK);
            if (again.properties().sizeBytes() != bytes) {
                throw new AssertionError("another size: " + again + ", expected=" + bytes);
            }
            again.close();
        }
    }

    /** A word that is no scheme, whatever is behind it. */
    @FuzzTest
    void scheme(byte[] text) {
        String uri = "fuzz:" + new String(text, StandardCharsets.UTF_8);
        if (Refused.orValue(() -> BlockDevice.open(uri, BLOCK)) != null) {
            throw new AssertionError("opened: " + uri);
        }
    }

    /** The options of a file volume, whose folder is missing, so it is neither opened nor made. */
    @FuzzTest
    void fileOptions(byte[] text) {
        requireRefused("file:" + MISSING + "?" + new String(text, StandardCharsets.UTF_8));
    }

    /** The options of a fault device, and how the device behind them is found. */
    @FuzzTest
    void faultOptions(byte[] text) {
        requireRefused("fault:" + new String(text, StandardCharsets.UTF_8) + ":file:" + MISSING);
    }

    private static void requireRefused(String uri) {
        BlockDevice device =
                Refused.orValue(() -> {
                    try {
                        return BlockDevice.open(uri, BLOCK);
                    } catch (DpuException e) {
                        if (e.status() == Status.NOT_FOUND) { // the options are right
                            return null;
                        }
                        throw e;
                    }
                });
        if (device != null) {
            throw new AssertionError("opened: " + uri);
        }
    }
}
