package io.softdpu.rdma.shm;

import io.softdpu.core.device.Device;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.Permissions;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.Epoll;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.Socket;
import io.softdpu.linux.UnixSocket;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Member of a fabric folder that requests and answers connections by address without an instance,
 * and so with any bytes: through a bus, or through sockets of its own.
 */
final class RogueBus implements AutoCloseable {
    static final Permissions NONE = Permissions.LOCAL_READ_ONLY;

    private static final int BACKLOG = 16;

    final Bus bus;
    final ShmDetails details;
    private final Path folder;
    private final SharedSegment ring =
            SharedSegment.allocate("rogue", ShmDetails.regionBytes(ShmConnection.GEOMETRY));
    private final SharedSegment memory = SharedSegment.allocate("rogue", 1);
    private final ExportedRegion exported;
    private final List<ImportedRegion> leases = new ArrayList<>();
    private final List<Integer> sockets = new ArrayList<>();

    RogueBus(Path folder) {
        this.folder = folder;
        this.bus =
                Bus.open(
                        new Bus.Config(
                                folder,
                                Topology.builtin().sha256(),
                                Topology.builtin().name(),
                                Patience.NANOS,
                                1L << 30,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        this.exported = bus.export(ring, true, null);
        this.details =
                new ShmDetails(
                        ShmConnection.GEOMETRY,
                        new ShmDetails.Key(0x1111, 0x2222),
                        exported.address(),
                        1024,
                        RnrTimer.LONGEST);
        memory.seal(false);
    }

    /** Bus name of the device's listener at {@link RdmaListenFixture#PORT}. */
    static String nameOf(Device device) {
        return ListenerName.of(device.info().function(), RdmaListenFixture.PORT);
    }

    /** A request for that listener that keeps to the protocol. */
    byte[] request(Device device) {
        return request(device, new byte[0]);
    }

    byte[] request(Device device, byte[] privateData) {
        PciFunction function = device.info().function();
        return ConnectMessage.request(
                        NONE,
                        new ConnectMessage.Route(
                                InetAddress.getLoopbackAddress(),
                                function.ipv4(),
                                RdmaListenFixture.PORT),
                        details,
                        privateData)
                .encode();
    }

    byte[] accept() {
        return ConnectMessage.accept(NONE, details, new byte[] {1, 2}).encode();
    }

    /** Sends a request, which may be any bytes. */
    CompletableFuture<Attachment> send(String name, byte[] request) {
        return bus.connect(name, request, memory, Patience.NANOS).future();
    }

    /** Sends a request with other memory than a handshake has. */
    CompletableFuture<Attachment> send(String name, byte[] request, SharedSegment with) {
        return bus.connect(name, request, with, Patience.NANOS).future();
    }

    /** Memory for an answer. */
    SharedSegment memory() {
        return memory;
    }

    /** Leases and maps the ring of an end, which ends with this object. */
    ImportedRegion lease(ShmDetails end) throws Exception {
        ImportedRegion region =
                bus.importRegion(end.region(), true, true, Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);
        leases.add(region);
        return region;
    }

    // ---- without a bus ----

    /** Path of the socket of a name. */
    Path socketOf(String name) {
        return folder.resolve(FabricFolder.hash(name) + ".sock");
    }

    /** Path of the lock of a name. */
    Path lockOf(String name) {
        return folder.resolve(FabricFolder.hash(name) + ".lock");
    }

    /** Connects to a name and sends nothing. */
    int connectOnly(String name) {
        int socket = keep(UnixSocket.create());
        int[] error = {Errno.EAGAIN}; // as long as the backlog is full
        Await.until(
                "a place in the backlog",
                () -> {
                    error[0] = UnixSocket.connect(socket, socketOf(name).toString());
                    return error[0] != Errno.EAGAIN;
                });
        if (error[0] != 0) {
            throw new AssertionError("not connected: name=" + name + ", errno=" + error[0]);
        }
        return socket;
    }

    /** Sends a frame with the memory of a handshake. */
    void sendFrame(int socket, Frame frame) {
        int error = trySendFrame(socket, frame);
        if (error != 0) {
            throw new AssertionError("not sent: errno=" + error);
        }
    }

    /** As {@link #sendFrame}, to a peer that may have gone; the error number, or 0. */
    int trySendFrame(int socket, Frame frame) {
        byte[] bytes = Frame.encode(frame);
        return DescriptorPassing.send(
                socket, MemorySegment.ofArray(bytes), bytes.length, memory.descriptor());
    }

    /** A HELLO with this payload, for {@link #sendFrame}. */
    static Frame hello(byte[] payload) {
        return new Frame.Hello(1, payload);
    }

    /** A WELCOME with this payload, for {@link #sendFrame}. */
    static Frame welcome(byte[] payload) {
        return new Frame.Welcome(1, payload);
    }

    /** Sends bytes without a descriptor; the error number, or 0. */
    static int sendBytes(int socket, byte[] bytes) {
        return DescriptorPassing.send(
                socket, MemorySegment.ofArray(bytes), bytes.length, new int[0]);
    }

    /** The next frame; null if the other side ends the connection. */
    @Nullable Frame receive(int socket) {
        awaitReadable(socket);
        try (ReceivedMessage message = new ReceivedMessage(Frame.MAX_BYTES, 8)) {
            int length = DescriptorPassing.receive(socket, message);
            return length <= 0 ? null : Frame.decode(message.segment(), length);
        }
    }

    /** Serves a name by a socket alone, without its lock. */
    int serveBare(String name) {
        int listener = keep(UnixSocket.create());
        UnixSocket.bind(listener, socketOf(name).toString());
        Socket.listen(listener, BACKLOG);
        return listener;
    }

    /** The next client of such a name. */
    int acceptBare(int listener) {
        awaitReadable(listener);
        return keep(Socket.accept(listener));
    }

    /** Closes a socket of this object. */
    void close(int socket) {
        if (sockets.remove(Integer.valueOf(socket))) {
            FileDescriptors.close(socket);
        }
    }

    private int keep(int socket) {
        sockets.add(socket);
        return socket;
    }

    static void awaitReadable(int descriptor) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(descriptor, Epoll.IN, 0);
            if (epoll.await((int) Patience.LIMIT.toMillis()) != 1) {
                throw new AssertionError("nothing came");
            }
        }
    }

    @Override
    public void close() {
        List.copyOf(sockets).forEach(this::close);
        leases.forEach(ImportedRegion::close);
        exported.close();
        bus.release(ring);
        bus.release(memory);
        bus.close();
    }
}
