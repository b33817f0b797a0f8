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
 * A TCP connection that never blocks, accepted or still being made, and its watch in the engine of
 * its channel. Owns the descriptor. Belongs to the engine's thread.
 */
final class TcpStream implements AutoCloseable {
    private final int fd;
    private final EngineWatch watch;
    private boolean closed;

    /**
     * Takes a socket over, which is not watched yet.
     *
     * @param onReady run inside progress while the socket is ready for what it is watched for
     */
    TcpStream(ProgressEngine engine, int fd, Runnable onReady) {
        this.fd = fd;
        this.watch = new EngineWatch(engine, fd, onReady);
    }

    /** What it is watched for, and what is run then. */
    EngineWatch watch() {
        return watch;
    }

    /**
     * Begins to connect.
     *
     * @throws IOException why the address cannot be reached
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
     * Whether it is connected by now.
     *
     * @throws IOException why the address could not be reached; told once
     */
    boolean finishConnect() throws IOException {
        int errno = TcpSocket.connectResult(fd);
        if (errno != 0 && errno != Errno.EINPROGRESS) {
            throw failure(errno);
        }
        return errno == 0;
    }

    /**
     * Has small messages sent at once.
     *
     * @throws IOException if the connection has ended in a way that allows that no more
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
     * @throws IOException if it is not connected any more
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
     * @throws IOException if it is not connected any more
     */
    InetSocketAddress remoteAddress() throws IOException {
        try {
            return TcpSocket.remoteAddress(fd);
        } catch (LinuxException e) {
            throw failure(e.errno());
        }
    }

    /**
     * Reads what has come, as far as there is room.
     *
     * @param into a direct buffer with room
     * @return how many bytes; 0 where nothing has come; -1 at the end of the stream
     * @throws IOException why the connection has ended
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
     * Writes as much of this as there is room for.
     *
     * @throws IOException why the connection has ended
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

    /** The number may be another file's by now. */
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
