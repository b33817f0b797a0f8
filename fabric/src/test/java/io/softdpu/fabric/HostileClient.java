package io.softdpu.fabric;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.UnixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A process that does to a served name what no client would, as often as it is told, and prints how
 * often it did what. It never waits for an answer.
 */
final class HostileClient {
    /** What is done to a name; one connection each. */
    enum Attack {
        GARBAGE,
        CUT_FRAME,
        WRONG_HEADER,
        TWO_FRAMES,
        OVERSIZE,
        EMPTY,
        NO_DESCRIPTOR,
        SURPLUS_DESCRIPTORS,
        DANGEROUS_DESCRIPTOR,
        LINGERING_DESCRIPTOR,
        FRAME_AFTER_HANDSHAKE,
        DESCRIPTOR_AFTER_HANDSHAKE,
        DOORBELL_FLOOD,
        CHANGED_FLAGS,
        NEVER_READS,
        CONNECT_AND_CLOSE,
        SILENT
    }

    static final String NAME = "victim";
    private static final int MEMORY_BYTES = 4096;
    private static final int SILENT_LIMIT = 300;
    private static final int O_APPEND = 0x400;
    private static final int O_ASYNC = 0x2000;
    private static final int[] SURPLUS = {2, 3, 4, 5, UnixSocket.MAX_DESCRIPTORS};

    private final Bus bus;
    private final Path folder;
    private final Random random;
    private final long victimPid;
    private final Map<Attack, Integer> counts = new EnumMap<>(Attack.class);
    private final List<HostilePeer> silent = new ArrayList<>();

    private HostileClient(Bus bus, Path folder, long seed, long victimPid) {
        this.bus = bus;
        this.folder = folder;
        this.random = new Random(seed);
        this.victimPid = victimPid;
    }

    /** Folder of the fabric, folder of its own, victim's process id, seed, and how often. */
    public static void main(String[] arguments) throws IOException {
        try (Bus bus =
                Bus.open(
                        new Bus.Config(
                                Path.of(arguments[0]),
                                new byte[32],
                                "t",
                                20_000_000_000L,
                                8 << 20))) {
            HostileClient client =
                    new HostileClient(
                            bus,
                            Path.of(arguments[1]),
                            Long.parseLong(arguments[3]),
                            Long.parseLong(arguments[2]));
            if (arguments[4].equals("idle")) {
                client.idle(Integer.parseInt(arguments[5]));
                return;
            }
            Attack[] attacks = Attack.values();
            int times = Integer.parseInt(arguments[4]);
            for (int i = 0; i < times; i++) {
                client.attack(attacks[i % attacks.length]);
            }
            client.silent.forEach(HostilePeer::close);
            System.out.println("done " + client.counts);
        }
    }

    /** Connects that often, says nothing, and stays until its input ends. */
    private void idle(int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            silent.add(HostilePeer.connectPatiently(bus, NAME));
        }
        System.out.println("idle " + connections);
        int end = System.in.read();
        System.out.println("ended " + end);
    }

    private void attack(Attack attack) throws IOException {
        HostilePeer peer = HostilePeer.connectPatiently(bus, NAME);
        boolean kept = false;
        try {
            kept = attackWith(attack, peer);
            counts.merge(attack, 1, Integer::sum);
        } finally {
            if (!kept) {
                peer.close();
            }
        }
    }

    private boolean attackWith(Attack attack, HostilePeer peer) throws IOException {
        byte[] hello = Frame.encode(new Frame.Hello(MEMORY_BYTES, new byte[random.nextInt(64)]));
        switch (attack) {
            case GARBAGE -> {
                byte[] bytes = new byte[1 + random.nextInt(Frame.MAX_BYTES)];
                random.nextBytes(bytes);
                peer.trySendBytes(bytes);
            }
            case CUT_FRAME ->
                    sendWithMemory(
                            peer, Arrays.copyOf(hello, 1 + random.nextInt(hello.length - 1)));
            case WRONG_HEADER -> {
                hello[random.nextInt(Frame.HEADER_BYTES)] ^= (byte) (1 + random.nextInt(255));
                sendWithMemory(peer, hello);
            }
            case TWO_FRAMES -> {
                sendWithMemory(peer, hello);
                sendWithMemory(peer, hello);
            }
            case OVERSIZE -> sendWithMemory(peer, Arrays.copyOf(hello, 20_000));
            case EMPTY -> peer.trySendBytes(new byte[0]);
            case NO_DESCRIPTOR -> peer.trySendBytes(hello);
            case SURPLUS_DESCRIPTORS -> {
                int memory = BadDescriptor.good(MEMORY_BYTES);
                int[] many = new int[SURPLUS[random.nextInt(SURPLUS.length)]];
                Arrays.fill(many, memory);
                peer.trySendBytes(hello, many);
                FileDescriptors.close(memory);
            }
            case DANGEROUS_DESCRIPTOR -> sendBad(peer, hello);
            case LINGERING_DESCRIPTOR -> sendLingering(peer, hello);
            case FRAME_AFTER_HANDSHAKE -> {
                sendWithMemory(peer, hello);
                peer.trySendBytes(hello);
            }
            case DESCRIPTOR_AFTER_HANDSHAKE -> {
                sendWithMemory(peer, hello);
                sendLingering(peer, new byte[] {1});
            }
            case DOORBELL_FLOOD -> {
                sendWithMemory(peer, hello);
                for (int i = 0; i < 1000; i++) {
                    peer.trySendBytes(new byte[] {1});
                }
            }
            case CHANGED_FLAGS -> changeFlags(peer, hello);
            case NEVER_READS, SILENT -> {
                if (attack == Attack.NEVER_READS) {
                    sendWithMemory(peer, hello);
                }
                silent.add(peer);
                if (silent.size() > SILENT_LIMIT) {
                    silent.removeFirst().close();
                }
                return true;
            }
            case CONNECT_AND_CLOSE -> {}
        }
        return false;
    }

    private static void sendWithMemory(HostilePeer peer, byte[] bytes) {
        int memory = BadDescriptor.good(MEMORY_BYTES);
        peer.trySendBytes(bytes, memory);
        FileDescriptors.close(memory);
    }

    private void sendBad(HostilePeer peer, byte[] hello) throws IOException {
        BadDescriptor[] all = {
            BadDescriptor.UNSEALED,
            BadDescriptor.ALL_HOLES,
            BadDescriptor.ONE_PAGE_TOO_LONG,
            BadDescriptor.FILE_ON_TMPFS,
            BadDescriptor.SOCKET,
            BadDescriptor.DIRECTORY,
            BadDescriptor.DEVICE,
            BadDescriptor.EVENT
        };
        int bad = all[random.nextInt(all.length)].open(MEMORY_BYTES, folder);
        peer.trySendBytes(hello, bad);
        FileDescriptors.close(bad);
    }

    private static void sendLingering(HostilePeer peer, byte[] bytes) throws IOException {
        try (LingeringSocket lingering = LingeringSocket.open()) {
            lingering.sent(peer.trySendBytes(bytes, lingering.descriptor()));
        }
    }

    /** Keeps what it sends, and what it gets, and changes both while the victim uses them. */
    private void changeFlags(HostilePeer peer, byte[] hello) {
        int memory = BadDescriptor.good(MEMORY_BYTES);
        peer.trySendBytes(hello, memory);
        List<Integer> shared = new ArrayList<>(List.of(memory));
        ReceivedMessage answer = peer.message();
        if (peer.tryReceive() && answer.descriptors() == 1) {
            shared.add(answer.descriptor(0));
        }
        for (int descriptor : shared) {
            RawSocket.fcntl(descriptor, RawSocket.F_SETOWN, victimPid);
            RawSocket.fcntl(
                    descriptor, RawSocket.F_SETFL, FileDescriptors.O_NONBLOCK | O_APPEND | O_ASYNC);
            Memfd.punchHole(descriptor, 0, MEMORY_BYTES);
        }
        FileDescriptors.close(memory);
    }
}
