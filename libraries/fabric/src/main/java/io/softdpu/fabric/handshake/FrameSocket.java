package io.softdpu.fabric.handshake;

import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import java.lang.foreign.Arena;

/** Sends frames of handshakes. Any thread. */
final class FrameSocket {
    private FrameSocket() {}

    /** Sends one frame with descriptors, without blocking; 0 or an errno. */
    static int send(int socket, byte[] frame, int... descriptors) {
        try (Arena arena = Arena.ofConfined()) {
            return DescriptorPassing.send(
                    socket, Frame.toNative(frame, arena), frame.length, descriptors);
        }
    }
}
