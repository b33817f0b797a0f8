package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * TCP socket whose last close blocks for minutes: it has unsent data, which is never read, and
 * SO_LINGER. One thread.
 */
public final class LingeringSocket implements AutoCloseable {
    /** Longer than any deadline of a test: who lingers misses it. */
    public static final int LINGER_SECONDS = (int) (2 * Patience.SECONDS);

    private final ServerSocketChannel server;
    private final SocketChannel accepted;
    private final int descriptor;
    private final String target;
    private boolean sent;

    private LingeringSocket(ServerSocketChannel server, SocketChannel accepted, int descriptor)
            throws IOException {
        this.server = server;
        this.accepted = accepted;
        this.descriptor = descriptor;
        this.target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
    }

    /**
     * Makes a connection and fills its buffers.
     *
     * @return the socket, to be sent once, and closed in any case
     * @throws IOException if the system refuses
     */
    public static LingeringSocket open() throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.setOption(StandardSocketOptions.SO_RCVBUF, 4096);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
            SocketChannel accepted = server.accept();
            int copy = SystemCalls.duplicate(descriptorOf(client));
            client.configureBlocking(false);
            client.setOption(StandardSocketOptions.SO_LINGER, LINGER_SECONDS);
            ByteBuffer data = ByteBuffer.allocate(64 << 10);
            while (client.write(data.clear()) > 0) {
                // Until the other side's room is full, and then this one's.
            }
            return new LingeringSocket(server, accepted, copy);
        }
    }

    /**
     * To send; a close of the last reference blocks.
     *
     * @return the descriptor
     */
    public int descriptor() {
        return descriptor;
    }

    /**
     * Descriptors of this process that refer to it.
     *
     * @return their number
     */
    public int held() {
        return descriptorsOf(target).size();
    }

    /** Closes this side's descriptor, which is not the last reference while the peer has one. */
    public void sent() {
        sent(0);
    }

    /**
     * The same after a send that may have failed: then the descriptor is kept until {@link #close}.
     *
     * @param error number of the error, or 0
     */
    public void sent(int error) {
        if (error == 0) {
            sent = true;
            SystemCalls.close(descriptor);
        }
    }

    /** Ends the connection without reading: blocked closes return. */
    @Override
    public void close() throws IOException {
        accepted.setOption(StandardSocketOptions.SO_LINGER, 0);
        accepted.close();
        server.close();
        if (!sent) {
            SystemCalls.close(descriptor);
        }
    }

    /**
     * Number of closing threads of buses that are in the system call now.
     *
     * @return those of all buses in this JVM
     */
    public static long blockedCloses() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getKey().getName().equals("softdpu-closer"))
                .flatMap(each -> Arrays.stream(each.getValue()))
                .filter(frame -> frame.getClassName().endsWith(".FileDescriptors"))
                .filter(frame -> frame.getMethodName().equals("close"))
                .count();
    }

    private static int descriptorOf(SocketChannel socket) throws IOException {
        int number = ((InetSocketAddress) socket.getLocalAddress()).getPort();
        String port = String.format(Locale.ROOT, ":%04X", number);
        for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] fields = line.strip().split("\\s+");
                if (fields.length > 9 && fields[1].endsWith(port)) {
                    List<Integer> found = descriptorsOf("socket:[" + fields[9] + "]");
                    if (!found.isEmpty()) {
                        return found.getFirst();
                    }
                }
            }
        }
        throw new IOException("socket is not in /proc: port=" + number);
    }

    private static List<Integer> descriptorsOf(String target) {
        List<Integer> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path each : all) {
                if (isLinkTo(each, target)) {
                    found.add(Integer.valueOf(each.getFileName().toString()));
                }
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isLinkTo(Path descriptor, String target) throws IOException {
        try {
            return Files.readSymbolicLink(descriptor).toString().equals(target);
        } catch (NoSuchFileException e) {
            return false; // closed meanwhile
        }
    }
}
