import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Another process of ours: {@code CmChild TOPOLOGY DEVICE serve PORT} accepts all, and prints each
 * message, until it is killed; {@code CmChild TOPOLOGY DEVICE connect ADDRESS PORT COUNT} connects as
 * many at once, exchanges a message with each, and disconnects.
 */
public final class CmChild implements AutoCloseable {
    private static final Duration LIFE = Duration.ofMinutes(5);
    private static final int SERVED = 4;

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private CmChild(Process process) {
        this.process = process;
        BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream()));
        Thread reader = new Thread(() -> out.lines().forEach(lines::add));
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a process with the arguments of the program, and the options of this one. */
    static CmChild start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.add("-XX:+UseSerialGC");
        String modules = System.getProperty("jdk.module.path");
        if (modules == null) {
            command.add("--enable-native-access=ALL-UNNAMED");
        } else {
            command.addAll(
                    List.of(
                            "--enable-native-access=io.softdpu.linux",
                            "-p",
                            modules,
                            "--add-modules",
                            "ALL-MODULE-PATH"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "CmChild"));
        command.addAll(List.of(arguments));
        return new CmChild(
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** Waits for a line of it. */
    void await(String expected) throws IOException {
        try {
            String line = lines.poll(CmEnd.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
            if (!expected.equals(line)) {
                throw new IOException(
                        "line of a process of ours is another: line=" + line + ", expected=" + expected);
            }
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }

    /** Ends it by SIGKILL, and waits for that. */
    @Override
    public void close() throws IOException {
        try {
            process.destroyForcibly().waitFor();
        } catch (InterruptedException e) {
            throw new IOException("interrupted", e);
        }
    }

    /** The program. */
    public static void main(String[] args) throws IOException {
        Thread end = new Thread(CmChild::endWithParent);
        end.setDaemon(true);
        end.start();
        boolean serves = args[2].equals("serve");
        int count = serves ? SERVED : Integer.parseInt(args[5]);
        try (CmEnd own = new CmEnd(Path.of(args[0]), args[1], 0, count)) {
            if (serves) {
                serve(own, Integer.parseInt(args[3]));
            } else {
                connect(own, args[1], InetAddress.ofLiteral(args[3]), Integer.parseInt(args[4]), count);
            }
        }
    }

    private static void endWithParent() {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            return; // it has ended, too
        } finally {
            Runtime.getRuntime().halt(1);
        }
    }

    private static void serve(CmEnd end, int port) {
        end.rdma().listen(port);
        System.out.println("listening");
        long last = System.nanoTime() + LIFE.toNanos();
        while (System.nanoTime() - last < 0) {
            end.drive();
            for (RdmaConnectionRequest each : end.requests()) {
                each.accept(CmEnd.bytes("served"));
            }
            while (end.hasMessage()) {
                System.out.println("message " + end.message());
            }
        }
    }

    private static void connect(CmEnd end, String device, InetAddress address, int port, int count) {
        List<RdmaConnection> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(end.connect(address, port, device + "-" + i));
        }
        for (RdmaConnection each : all) {
            end.awaitState(each, RdmaConnection.State.CONNECTED);
        }
        System.out.println("connected");
        for (int i = 0; i < count; i++) {
            Status status = end.send(all.get(i), device + "-" + i);
            if (status != Status.SUCCESS) {
                throw new IllegalStateException("a send has failed: status=" + status);
            }
        }
        for (int i = 0; i < count; i++) {
            end.message();
        }
        System.out.println("exchanged");
        all.forEach(RdmaConnection::disconnect);
        for (RdmaConnection each : all) {
            end.awaitState(each, RdmaConnection.State.DISCONNECTED);
        }
        System.out.println("ended");
    }
}
