package io.softdpu.rdma.roce.capture;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A pcap file in memory, made frame by frame. */
final class CaptureFile {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final ByteOrder order;

    CaptureFile(ByteOrder order, int magic, int linkType) {
        this.order = order;
        bytes.writeBytes(
                ByteBuffer.allocate(24)
                        .order(order)
                        .putInt(magic)
                        .putShort((short) 2)
                        .putShort((short) 4)
                        .putLong(0)
                        .putInt(65535)
                        .putInt(linkType)
                        .array());
    }

    /** Of Ethernet, with microseconds. */
    static CaptureFile ethernet() {
        return new CaptureFile(ByteOrder.LITTLE_ENDIAN, 0xa1b2c3d4, 1);
    }

    CaptureFile add(int seconds, int fraction, byte[] frame) {
        return add(seconds, fraction, frame, frame.length);
    }

    CaptureFile add(int seconds, int fraction, byte[] frame, int capturedBytes) {
        bytes.writeBytes(
                ByteBuffer.allocate(16)
                        .order(order)
                        .putInt(seconds)
                        .putInt(fraction)
                        .putInt(capturedBytes)
                        .putInt(frame.length)
                        .array());
        bytes.write(frame, 0, Math.clamp(capturedBytes, 0, frame.length));
        return this;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    InputStream open() {
        return new ByteArrayInputStream(bytes());
    }
}
