package io.softdpu.rdma.roce;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.cm.FarEnd;
import io.softdpu.rdma.roce.nic.BareEndpoint;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.CmMessage;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Packet;
import io.softdpu.rdma.spi.ConnectRequest;
import io.softdpu.rdma.spi.ProviderConnection;
import io.softdpu.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;

/** Program in a network namespace of its own that changes the MTU of the loopback interface. */
final class RoceInterfaceMtuProbe {
    private static final Gid FOREIGN = Gid.ofAddress(new byte[] {127, 9, 9, 9});

    private RoceInterfaceMtuProbe() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        if (arguments[0].equals("parameters")) {
            parameters(folder);
        } else {
            listener(folder);
        }
    }

    private static void setMtu(int bytes) throws IOException, InterruptedException {
        Process ip =
                new ProcessBuilder("ip", "link", "set", "dev", "lo", "mtu", "" + bytes)
                        .inheritIO()
                        .start();
        if (ip.waitFor() != 0) {
            throw new IOException("MTU was not set: bytes=" + bytes);
        }
    }

    /** The same for a listener, which looks at the interface in a call of its program. */
    private static void setMtu(int bytes, RoceEndpoint listener) throws Exception {
        setMtu(bytes);
        try {
            listener.listen(FarEnd.PORT + 1);
            listener.stopListening(FarEnd.PORT + 1);
        } catch (DpuException e) { // the MTU is too small for any connection
            System.out.println("MTU " + bytes + ": " + e.status());
        }
    }

    // ---- by parameters ----

    private static void parameters(Path folder) throws Exception {
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            System.out.println(
                    "MTU 1500: path MTU of its own " + RoceQueuePair.of(toFar).pathMtuBytes());
            System.out.println("MTU 1500: 4096 " + refusal(near, toFar, toNear, 4096));
            System.out.println("MTU 1500: 2048 " + refusal(near, toFar, toNear, 2048));
            System.out.println("MTU 1500: " + toFar.state());

            setMtu(9000);
            near.connect(toFar, numbers(toNear, 4096).blob());
            far.connect(toNear, numbers(toFar, 4096).blob());
            Party.drive(
                    "connections",
                    () ->
                            toFar.state() == RdmaConnection.State.CONNECTED
                                    && toNear.state() == RdmaConnection.State.CONNECTED,
                    near,
                    far);
            far.receive(5000);
            near.send(toFar, 5000);
            Party.drive(
                    "a message", () -> near.results.size() + far.results.size() == 2, near, far);
            System.out.println(
                    "MTU 9000: 4096 "
                            + toFar.state()
                            + ", "
                            + toNear.state()
                            + ", sent="
                            + near.results.remove()
                            + ", received="
                            + far.results.remove());
        }
        try (Party near = new Party(folder, Side.TARGET);
                Party far = new Party(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            setMtu(320);
            System.out.println("MTU 320: 256 " + refusal(near, toFar, toNear, 256));
        }
    }

    private static RoceQueuePair numbers(RdmaConnection of, int pathMtuBytes) {
        RoceQueuePair own = RoceQueuePair.of(of);
        return new RoceQueuePair(
                own.gid(), own.number(), own.firstPsn(), pathMtuBytes, own.readLimit());
    }

    private static String refusal(
            Party of, RdmaConnection own, RdmaConnection peers, int pathMtuBytes) {
        try {
            of.connect(own, numbers(peers, pathMtuBytes).blob());
        } catch (DpuException e) {
            String text = String.valueOf(e.getMessage());
            int from = text.indexOf("pathMtuBytes=");
            return e.status()
                    + (from < 0 ? "" : " " + text.substring(from, text.indexOf(", expected=")));
        }
        return "connected";
    }

    // ---- listener ----

    private static void listener(Path folder) throws Exception {
        RoceTestEnvironment site = new RoceTestEnvironment();
        try (Machine machine = site.openMachine(folder, Side.TARGET);
                Device device = machine.findDevice(site.device(Side.TARGET)).open()) {
            Gid own = Gid.ofAddress(device.info().ipv4().getAddress());
            RecordingListener program = new RecordingListener();
            RoceEndpoint endpoint =
                    new RoceEndpoint(BareEndpoint.config(device, 4096), program, own, null);
            try (Forger linux = new Forger(FOREIGN, Headers.UDP_PORT, own)) {
                endpoint.listen(FarEnd.PORT);
                Asker asker = new Asker(endpoint, program, linux, own);
                System.out.println("MTU 1500: 4096 " + asker.ask(5));
                System.out.println("MTU 1500: 1024 " + asker.ask(3));
                setMtu(9000, endpoint);
                System.out.println("MTU 9000: 4096 " + asker.ask(5));
                ConnectRequest shown = program.requests.getLast();
                setMtu(1500, endpoint);
                System.out.println("MTU 1500: 4096 " + asker.ask(5));
                setMtu(320, endpoint);
                System.out.println("MTU 320: 256 " + asker.ask(1));
                setMtu(1500);
                ProviderConnection _ = shown.accept(new byte[0], program);
                System.out.println("MTU 1500: accepted 4096 " + asker.awaitEnd());
            } finally {
                endpoint.close();
            }
        }
    }

    /** Peer that is none of softdpu, and the progress of the listener. */
    private record Asker(
            RoceEndpoint endpoint, RecordingListener program, Forger linux, Gid listener) {
        private static int ids;

        /** Requests a connection with a path MTU by its code. */
        String ask(int code) throws IOException {
            int id = ++ids;
            FarEnd end = new FarEnd(FOREIGN, listener, FarEnd.LINUX_GUID, id, 0x100 + id);
            byte[] message = CmCodec.encode(end.reqOfPathMtu(code));
            int before = program.requests.size();
            String[] answer = {""};
            linux.send(linux.sealed(Forger.message(message, CmCodec.QUEUE_KEY, id)));
            until(
                    "an answer, or a request",
                    () -> {
                        answer[0] = answerTo(id);
                        return !answer[0].isEmpty() || program.requests.size() > before;
                    });
            return answer[0] + "requests=" + program.requests.size();
        }

        String awaitEnd() {
            String[] answer = {""};
            until(
                    "the answer and the end",
                    () -> {
                        answer[0] = answer[0].isEmpty() ? answerTo(2 + 1) : answer[0];
                        return !answer[0].isEmpty() && program.end != null;
                    });
            return answer[0] + "ended=" + program.end;
        }

        /** The reason of a REJ, if one has come. */
        private String answerTo(int id) {
            try {
                byte[] bytes = linux.receive().orElse(new byte[0]);
                Packet packet = new Packet();
                if (bytes.length == 0
                        || packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length) != null) {
                    return "";
                }
                CmMessage message =
                        CmCodec.decode(packet.memory(), packet.payloadAt(), packet.payloadBytes());
                return message instanceof CmMessage.Rej rej && rej.remoteId() == id
                        ? "reason=" + rej.reason() + ", "
                        : "";
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void until(String what, BooleanSupplier condition) {
            Await.byStep(what, condition, endpoint::progress);
        }
    }
}
