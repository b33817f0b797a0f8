import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.util.Locale;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpMemMapParams;
import org.openucx.jucx.ucp.UcpMemory;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRemoteKey;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * Puts of JUCX between two JVMs: {@code JucxPut server FOLDER} says "ready" and serves until it is
 * killed; {@code JucxPut client FOLDER SIZE WINDOW SECONDS} prints {@code put_ns N}, the time per
 * put with so many in flight, after a warm-up of the same length.
 */
public final class JucxPut {
    private static final long MEMORY_BYTES = 1 << 20;

    private JucxPut() {}

    /** Mode and folder; of the client also size, window and seconds. */
    public static void main(String[] arguments) throws Exception {
        boolean isServer = arguments[0].equals("server");
        Path folder = Path.of(arguments[1]);
        UcpContext context =
                new UcpContext(new UcpParams().requestRmaFeature().requestTagFeature());
        UcpWorker worker = context.newWorker(new UcpWorkerParams());
        UcpMemory memory =
                context.memoryMap(new UcpMemMapParams().allocate().setLength(MEMORY_BYTES));
        String own = isServer ? "server" : "client";
        String other = isServer ? "client" : "server";
        write(folder.resolve(own + ".memory"), addressOf(memory));
        write(folder.resolve(own + ".key"), memory.getRemoteKeyBuffer());
        write(folder.resolve(own + ".worker"), worker.getAddress());
        if (isServer) {
            System.out.println("ready");
            while (true) {
                worker.progress();
            }
        }
        UcpEndpoint endpoint =
                worker.newEndpoint(
                        new UcpEndpointParams()
                                .setUcpAddress(read(folder.resolve(other + ".worker"))));
        UcpRemoteKey key = endpoint.unpackRemoteKey(read(folder.resolve(other + ".key")));
        long there = read(folder.resolve(other + ".memory")).getLong(0);
        long size = Long.parseLong(arguments[2]);
        UcpRequest[] window = new UcpRequest[Integer.parseInt(arguments[3])];
        double seconds = Double.parseDouble(arguments[4]);
        put(worker, endpoint, key, memory.getAddress(), there, size, window, seconds);
        double nanos = put(worker, endpoint, key, memory.getAddress(), there, size, window, seconds);
        System.out.printf(Locale.ROOT, "put_ns %.2f%n", nanos);
    }

    /** Nanoseconds per put. */
    private static double put(
            UcpWorker worker,
            UcpEndpoint endpoint,
            UcpRemoteKey key,
            long here,
            long there,
            long size,
            UcpRequest[] window,
            double seconds)
            throws Exception {
        long begin = System.nanoTime();
        long count = 0;
        long took;
        do {
            for (int i = 0; i < window.length; i++) {
                window[i] =
                        endpoint.putNonBlocking(
                                here + i * size, size, there + i * size, key, (UcxCallback) null);
            }
            for (UcpRequest request : window) {
                while (!request.isCompleted()) {
                    worker.progress();
                }
            }
            count += window.length;
            took = System.nanoTime() - begin;
        } while (took < seconds * 1e9);
        UcpRequest flush = endpoint.flushNonBlocking(null);
        while (!flush.isCompleted()) {
            worker.progress();
        }
        return (double) (System.nanoTime() - begin) / count;
    }

    private static ByteBuffer addressOf(UcpMemory memory) {
        return ByteBuffer.allocate(Long.BYTES).putLong(0, memory.getAddress());
    }

    private static void write(Path file, ByteBuffer bytes) throws Exception {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        Path made = file.resolveSibling(file.getFileName() + ".new");
        Files.write(made, copy);
        Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static ByteBuffer read(Path file) throws Exception {
        try (WatchService watch = file.getFileSystem().newWatchService()) {
            file.getParent().register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            while (!Files.exists(file)) {
                watch.take().reset();
            }
        }
        byte[] bytes = Files.readAllBytes(file);
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
        buffer.put(bytes).flip();
        return buffer;
    }
}
