package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.rdma.roce.capture.CaptureWriter;
import io.softdpu.rdma.roce.nic.Nic;
import io.softdpu.rdma.roce.nic.NicOptions;
import io.softdpu.rdma.roce.wire.Gid;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Options that this process uses, their capture, and the adapters that are opened with them. */
final class RoceProcess {
    // Guarded by the class: those of this process, null until they are needed; their capture.
    private static @Nullable RoceOptions inUse;
    private static @Nullable CaptureWriter writer;

    // Guarded by the class: of adapters that are being opened with the options.
    private static final List<Gid> OPENING = new ArrayList<>();

    private RoceProcess() {}

    /** The options, as {@link RoceOptions#current}. */
    static synchronized RoceOptions options() {
        RoceOptions used = inUse;
        if (used == null) {
            used = RoceOptions.ofEnvironment();
            inUse = used;
        }
        return used;
    }

    /** Makes these the options, as {@link RoceOptions#use}. */
    static void use(RoceOptions options) {
        synchronized (RoceProcess.class) {
            Optional<String> open =
                    OPENING.isEmpty() ? Nic.anyOpen() : Optional.of(OPENING.getFirst().toString());
            if (open.isPresent()) {
                throw new DpuException(
                        Status.BAD_STATE,
                        "NIC of the provider roce is open: address="
                                + open.get()
                                + ", expected=RoceOptions.use before the first connection"
                                + " of the process, or after the last was closed");
            }
            CaptureWriter before = writer;
            if (before != null && before.path().equals(options.capture())) {
                before.close(); // a file has one writer
            }
            writer = openCapture(options.capture());
            inUse = options;
            if (before != null) {
                before.close();
            }
        }
    }

    private static @Nullable CaptureWriter openCapture(@Nullable Path file) {
        if (file == null) {
            return null;
        }
        try {
            return CaptureWriter.create(file);
        } catch (IOException e) {
            throw notWritten(file, e, "");
        }
    }

    private static DpuException notWritten(Path file, IOException failure, String lost) {
        return new DpuException(
                Status.IO_FAILED,
                "capture cannot be written: file="
                        + ForeignText.escape(file.toString())
                        + lost
                        + ", failure="
                        + Reason.of(failure),
                failure);
    }

    /**
     * The adapter of an address, as {@link Nic#open}, with the options of this process, which stay
     * the same meanwhile.
     */
    static Nic openNic(Gid address) {
        NicOptions options = begin(address);
        try {
            return Nic.open(address, options); // may wait: without the lock
        } finally {
            synchronized (RoceProcess.class) {
                boolean _ = OPENING.remove(address);
            }
        }
    }

    private static synchronized NicOptions begin(Gid address) {
        RoceOptions options = options();
        if (writer == null) {
            writer = openCapture(options.capture());
        }
        OPENING.add(address);
        return options.ofNic().withCapture(writer);
    }

    /** Ends the capture, as {@link RoceOptions#endCapture}. */
    static void endCapture() {
        CaptureWriter ended;
        synchronized (RoceProcess.class) {
            ended = writer;
        }
        if (ended != null) {
            end(ended);
        }
    }

    /** Closes a capture; throws as {@link #endCapture}. */
    static void end(CaptureWriter capture) {
        capture.close();
        IOException failure = capture.failure();
        if (failure != null) {
            throw notWritten(capture.path(), failure, ", lostPackets=" + capture.lost());
        }
    }
}
