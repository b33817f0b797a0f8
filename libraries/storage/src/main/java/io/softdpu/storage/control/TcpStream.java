package io.softdpu.storage.control;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.TcpSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * Non-blocking TCP connection, accepted or still connecting, and its watch in the engine of its
 * channel. Owns the descriptor. Belongs to the engine's thread.
 */
final class TcpStream implements AutoCloseable {
    private final int fd;
    private final EngineWatch watch;
    private boolean closed;

    /**
     * Takes ownership of a socket, which is not watched yet.
     *
     * @param onReady runs inside progress while the socket is ready for the watch's interest
     */
    TcpStream(ProgressEngine engine, int fd, Runnable onReady) {
        this.fd = fd;
        this.watch = new EngineWatch(engine, fd, onReady);
    }

    /** The watch of the socket. */
    EngineWatch watch() {
        return watch;
    }

    /**
     * Begins to connect.
     *
     * @throws IOException if the address cannot be reached
     */
    void connect(InetSocketAddress address) throws IOException {
        int errno;
        try {
            errno = TcpSocket.connect(fd, address);
        } catch (LinuxException e) {
            throw failure(e.errno());
        }
        if (errno != 0 && errno != Errno.EINPROGRESS) {
            throw failure(errno);
        }
    }

    /**
     * Checks whether the connection is established.
     *
     * @throws IOException if the address could not be reached; thrown once
     */
    boolean finishConnect() throws IOException {
        int errno = TcpSocket.connectResult(fd);
        if (errno != 0 && errno != Errno.EINPROGRESS) {
            throw failure(errno);
        }
        return errno == 0;
    }

    /**
     * Disables Nagle's algorithm, so that small messages are sent at once.
     *
     * @throws IOException if the connection has failed
     */
    void setNoDelay() throws IOException {
        try {
            TcpSocket.setNoDelay(fd, true);
        } catch (LinuxException e) {
            throw failure(e.errno());
        }
    }

    /**
     * The address of this end.
     *
     * @throws IOException if it is no longer connected
     */
    InetSocketAddress localAddress() throws IOException {
        try {
            return TcpSocket.localAddress(fd);
        } catch (LinuxException e) {
            throw failure(e.errno());
        }
    }

    /**
     * The address of the peer.
     *
     * @throws IOException if it is no longer connected
     */
    InetSocketAddress remoteAddress() throws IOException {
        try {
            return TcpSocket.remoteAddress(fd);
        } catch (LinuxException e) {
            throw failure(e.errno());
        }
    }

    /**
     * Reads received bytes, up to the buffer's remaining size.
     *
     * @param into a direct buffer with remaining bytes
     * @return number of bytes; 0 if none were received; -1 at the end of the stream
     * @throws IOException if the connection has failed
     */
    int read(ByteBuffer into) throws IOException {
        requireOpen();
        int result = TcpSocket.read(fd, MemorySegment.ofBuffer(into));
        if (result > 0) {
            into.position(into.position() + result);
            return result;
        }
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        if (result == 0) {
            return -1;
        }
        throw failure(-result);
    }

    /**
     * Writes as many bytes as the socket accepts at once.
     *
     * @throws IOException if the connection has failed
     */
    void write(ByteBuffer from) throws IOException {
        requireOpen();
        while (from.hasRemaining()) {
            int result = TcpSocket.write(fd, MemorySegment.ofBuffer(from));
            if (result == -Errno.EAGAIN) {
                return;
            }
            if (result < 0) {
                throw failure(-result);
            }
            from.position(from.position() + result);
        }
    }

    /** After close the descriptor's number may belong to another file. */
    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("connection is closed: fd=" + fd);
        }
    }

    private static IOException failure(int errno) {
        return new IOException(Errno.text(errno));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            watch.end();
            FileDescriptors.close(fd);
        }
    }
}
