package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Socket;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
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

/**
 * TCP socket whose last close blocks for minutes: it has unsent data, which is never read, and
 * SO_LINGER.
 */
final class LingeringSocket implements AutoCloseable {
    /** Longer than any deadline of a test: who lingers misses it. */
    static final int LINGER_SECONDS = (int) (2 * Patience.SECONDS);

    private final ServerSocketChannel server;
    private final SocketChannel accepted;
    private final int descriptor;
    private final String target;
    private boolean released;

    private LingeringSocket(ServerSocketChannel server, SocketChannel accepted, int descriptor)
            throws IOException {
        this.server = server;
        this.accepted = accepted;
        this.descriptor = descriptor;
        this.target = Files.readSymbolicLink(ResourceSnapshot.procPath(descriptor)).toString();
    }

    static LingeringSocket open() throws IOException {
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

    /** To send; a close of the last reference blocks. */
    int descriptor() {
        return descriptor;
    }

    /** Descriptors of this process that refer to it. */
    long held() {
        return ResourceSnapshot.now().descriptors().stream().filter(target::equals).count();
    }

    /** Closes this side's descriptor, which is not the last reference while the peer has one. */
    void sent() {
        sent(0);
    }

    /** The same after a send that may have failed with an error number. */
    void sent(int error) {
        if (error != 0) { // this is the last
            assertThat(Socket.stopLingering(descriptor)).isTrue();
        }
        released = true;
        FileDescriptors.close(descriptor);
    }

    /** Ends the connection without reading: blocked closes return. */
    @Override
    public void close() throws IOException {
        if (!released) { // a test had no use for it
            sent(-1);
        }
        accepted.setOption(StandardSocketOptions.SO_LINGER, 0);
        accepted.close();
        server.close();
    }

    private static int descriptorOf(SocketChannel socket) throws IOException {
        String port = Text.format("%04X", ((InetSocketAddress) socket.getLocalAddress()).getPort());
        for (String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
            for (String line : Files.readAllLines(Path.of(table))) {
                String[] fields = line.strip().split("\\s+");
                if (fields.length > 9 && fields[1].endsWith(":" + port)) {
                    int found = descriptorOfInode("socket:[" + fields[9] + "]");
                    if (found >= 0) {
                        return found;
                    }
                }
            }
        }
        throw new IOException("socket is not in /proc: port=0x" + port);
    }

    private static int descriptorOfInode(String target) throws IOException {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : all) {
                try {
                    if (Files.readSymbolicLink(descriptor).toString().equals(target)) {
                        return Integer.parseInt(descriptor.getFileName().toString());
                    }
                } catch (NoSuchFileException e) {
                    continue; // closed meanwhile
                }
            }
        }
        return -1;
    }
}
