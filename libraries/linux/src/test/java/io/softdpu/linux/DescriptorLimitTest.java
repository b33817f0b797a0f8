package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behaviour without free descriptors, shown in a process of its own. */
@StartsProcesses
final class DescriptorLimitTest {
    private static final int LIMIT = 64;

    @TempDir Path folder;

    @Test
    void shouldReportThatTheProcessHasNoDescriptorsLeftAndLoseNone()
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "ulimit -n " + LIMIT + " && exec \"$@\"",
                                "sh",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Program.class.getName(),
                                folder.resolve("s").toString())
                        .redirectErrorStream(true)
                        .start();
        try (var reader = process.inputReader()) {
            String output = String.join("\n", reader.readAllLines());

            assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(output)
                    .isEqualTo(
                            """
                            memfd_create failed: errno=24 (EMFILE), name=filler
                            received=1 truncated=true descriptors=0
                            accept4 failed: errno=24 (EMFILE), fd=LISTENER
                            received=1 truncated=false descriptors=2
                            accepted=true
                            pending=false
                            accept4 failed: errno=24 (EMFILE), fd=LISTENER
                            socket failed: errno=24 (EMFILE), domain=AF_INET
                            pending=true
                            accept4 failed: errno=24 (EMFILE), fd=LISTENER
                            accepted=true\
                            """);
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Runs in the limited process. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) {
            int listener = UnixSocket.create();
            UnixSocket.bind(listener, args[0]);
            Socket.listen(listener, 4);
            UnixSocket.connect(UnixSocket.create(), args[0]);
            int[] pair = UnixSocket.pair();
            MemorySegment one = MemorySegment.ofArray(new byte[1]);
            ReceivedMessage message = new ReceivedMessage(8, 2);
            StringBuilder report = new StringBuilder();
            int tcpListener = TcpSocket.create(InetAddress.getLoopbackAddress());
            TcpSocket.bind(tcpListener, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Socket.listen(tcpListener, 4);
            int client = TcpSocket.create(InetAddress.getLoopbackAddress());
            String none = acceptFailure(tcpListener) + TcpSocket.hasPending(tcpListener);
            // Once before the limit is reached, so that no class is left to be loaded from a file.
            DescriptorPassing.send(pair[0], one, 1, pair);
            receive(pair[1], message, new StringBuilder());
            message.close();
            String unused = new LinuxException("none", Errno.EMFILE, "fd=" + listener).getMessage();
            FileDescriptors.close(Memfd.create(unused + none));
            DescriptorPassing.send(pair[0], one, 1, pair);
            DescriptorPassing.send(pair[0], one, 1, pair);
            Deque<Integer> fillers = new ArrayDeque<>();
            fill(fillers);
            // Again: the JVM itself may have held a descriptor for a moment.
            report.append(fill(fillers)).append('\n');
            // Room for one of the two descriptors of the message.
            FileDescriptors.close(fillers.pop());
            receive(pair[1], message, report);
            fillers.push(Memfd.create("filler again: the one that came was closed"));
            try {
                Socket.accept(listener);
            } catch (LinuxException e) {
                report.append(e.getMessage().replace("fd=" + listener, "fd=LISTENER")).append('\n');
            }
            FileDescriptors.close(fillers.pop());
            FileDescriptors.close(fillers.pop());
            receive(pair[1], message, report);
            message.close();
            report.append("accepted=").append(Socket.accept(listener) >= 0).append('\n');
            tcp(fillers, tcpListener, client, report);
            System.out.println(report);
        }

        /**
         * Without a free descriptor accept fails even if no connection is pending, and pending ones
         * stay.
         */
        private static void tcp(
                Deque<Integer> fillers, int listener, int client, StringBuilder report) {
            fill(fillers);
            report.append("pending=").append(TcpSocket.hasPending(listener)).append('\n');
            report.append(acceptFailure(listener)).append('\n');
            try {
                TcpSocket.create(InetAddress.getLoopbackAddress());
            } catch (LinuxException e) {
                report.append(e.getMessage()).append('\n');
            }
            TcpSocket.connect(client, TcpSocket.localAddress(listener));
            while (!TcpSocket.hasPending(listener)) {
                Thread.onSpinWait();
            }
            report.append("pending=true\n").append(acceptFailure(listener)).append('\n');
            FileDescriptors.close(fillers.pop());
            report.append("accepted=").append(TcpSocket.accept(listener) >= 0);
        }

        private static String acceptFailure(int listener) {
            try {
                return "accepted=" + TcpSocket.accept(listener);
            } catch (LinuxException e) {
                return e.getMessage().replace("fd=" + listener, "fd=LISTENER");
            }
        }

        private static String fill(Deque<Integer> fillers) {
            while (fillers.size() <= LIMIT) {
                try {
                    fillers.push(Memfd.create("filler"));
                } catch (LinuxException e) {
                    return e.getMessage();
                }
            }
            return "no limit";
        }

        private static void receive(int fd, ReceivedMessage message, StringBuilder report) {
            report.append("received=")
                    .append(DescriptorPassing.receive(fd, message))
                    .append(" truncated=")
                    .append(message.truncated())
                    .append(" descriptors=")
                    .append(message.descriptors())
                    .append('\n');
        }
    }
}
