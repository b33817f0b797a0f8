package io.softdpu.fabric;

import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.DescriptorPassing;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.ReceivedMessage;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.LingeringSocket;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Process that attacks a served name as often as it is told, and prints the count of each attack.
 * Usually it does not wait for a reply; each {@value #LOOK_EVERY}th time it does, and prints how
 * often the reply showed that the attack had reached the server.
 */
final class HostileClient {
    /** Attacks on a name; one connection each. */
    enum Attack {
        GARBAGE("frame refused: .*"),
        CUT_FRAME("frame refused: .*"),
        WRONG_HEADER("(frame|handshake) refused: .*"),
        TWO_FRAMES(ServerReply.WELCOME_AND_END),
        OVERSIZE("handshake refused: frame or descriptors truncated"),
        EMPTY(ServerReply.END),
        NO_DESCRIPTOR("handshake refused: descriptors=0, expected=1"),
        SURPLUS_DESCRIPTORS(
                "handshake refused: (descriptors=[2-9].*, expected=1|.* descriptors truncated)"),
        DANGEROUS_DESCRIPTOR("descriptor refused: .*"),
        LINGERING_DESCRIPTOR("descriptor refused: not memory: .*"),
        FRAME_AFTER_HANDSHAKE(ServerReply.WELCOME_AND_END),
        DESCRIPTOR_AFTER_HANDSHAKE(ServerReply.WELCOME_AND_END),
        DOORBELL_FLOOD(ServerReply.WELCOME_AND_END),
        CHANGED_FLAGS("changed 2"),
        NEVER_READS(ServerReply.UNREAD),
        CONNECT_AND_CLOSE("frame refused: .*"),
        SILENT("frame refused: .*");

        /** The server's reply. */
        private final String answer;

        Attack(String answer) {
            this.answer = answer;
        }
    }

    static final String NAME = "victim";
    private static final int MEMORY_BYTES = 4096;
    private static final int SILENT_LIMIT = 300;
    private static final int LOOK_EVERY = 8;
    private static final int O_APPEND = 0x400;
    private static final int O_ASYNC = 0x2000;
    private static final int[] SURPLUS = {2, 3, 4, 5, DescriptorPassing.MAX_DESCRIPTORS};

    private final Bus bus;
    private final Path folder;
    private final Random random;
    private final long victimPid;
    private final Map<Attack, Integer> counts = new EnumMap<>(Attack.class);
    private final Map<Attack, Integer> looks = new EnumMap<>(Attack.class);
    private final Map<Attack, Integer> reached = new EnumMap<>(Attack.class);
    private final Map<Attack, String> otherwise = new EnumMap<>(Attack.class);
    private final List<HostilePeer> silent = new ArrayList<>();

    /** The last error of what was sent in this attack; 0 if all went out. */
    private int error;

    /** Flags that were changed of what the server had sent, in this attack. */
    private int flagsChanged;

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
                                Patience.NANOS,
                                8 << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE))) {
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
            for (Attack attack : attacks) {
                System.out.println(
                        Text.format(
                                "reached %s=%d of %d, otherwise: %s",
                                attack,
                                client.reached.getOrDefault(attack, 0),
                                client.looks.getOrDefault(attack, 0),
                                client.otherwise.getOrDefault(attack, "never")));
            }
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
        error = 0;
        flagsChanged = 0;
        try {
            kept = attackWith(attack, peer);
            if (counts.merge(attack, 1, Integer::sum) % LOOK_EVERY == 1) {
                look(attack, peer);
            }
        } finally {
            if (!kept) {
                peer.close();
            }
        }
    }

    /** Waits for what shows that the server has seen it. */
    private void look(Attack attack, HostilePeer peer) {
        String seen =
                switch (attack) {
                    case FRAME_AFTER_HANDSHAKE -> ServerReply.welcomeAndEnd(peer);
                    case TWO_FRAMES, DESCRIPTOR_AFTER_HANDSHAKE ->
                            error == Errno.EPERM // the server lets no further descriptor in
                                    ? ServerReply.WELCOME_AND_END
                                    : ServerReply.welcomeAndEnd(peer);
                    case DOORBELL_FLOOD -> {
                        peer.sendPatiently(new byte[2]); // read when all before it have been
                        yield ServerReply.welcomeAndEnd(peer);
                    }
                    case CHANGED_FLAGS -> "changed " + flagsChanged;
                    case NEVER_READS -> ServerReply.unread(peer);
                    case CONNECT_AND_CLOSE -> {
                        peer.close();
                        yield answerToTheNext();
                    }
                    case SILENT -> answerToTheNext();
                    default -> ServerReply.refusal(peer);
                };
        looks.merge(attack, 1, Integer::sum);
        if (seen.matches(attack.answer)) {
            reached.merge(attack, 1, Integer::sum);
        } else {
            otherwise.put(attack, seen + ", errno=" + error);
        }
    }

    /** Accepted in the order in which they came: this one after that which only came. */
    private String answerToTheNext() {
        try (HostilePeer next = HostilePeer.connectPatiently(bus, NAME)) {
            next.trySendBytes(new byte[] {1});
            return ServerReply.refusal(next);
        }
    }

    /** Sends, and notes whether it went out. */
    private int send(HostilePeer peer, byte[] bytes, int... descriptors) {
        int result = peer.trySendBytes(bytes, descriptors);
        if (result != 0) {
            error = result;
        }
        return result;
    }

    private boolean attackWith(Attack attack, HostilePeer peer) throws IOException {
        byte[] hello = Frame.encode(new Frame.Hello(MEMORY_BYTES, new byte[random.nextInt(64)]));
        switch (attack) {
            case GARBAGE -> {
                byte[] bytes = new byte[1 + random.nextInt(Frame.MAX_BYTES)];
                random.nextBytes(bytes);
                send(peer, bytes);
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
            case EMPTY -> send(peer, new byte[0]);
            case NO_DESCRIPTOR -> send(peer, hello);
            case SURPLUS_DESCRIPTORS -> {
                int memory = BadDescriptor.good(MEMORY_BYTES);
                int[] many = new int[SURPLUS[random.nextInt(SURPLUS.length)]];
                Arrays.fill(many, memory);
                send(peer, hello, many);
                FileDescriptors.close(memory);
            }
            case DANGEROUS_DESCRIPTOR -> sendBad(peer, hello);
            case LINGERING_DESCRIPTOR -> sendLingering(peer, hello);
            case FRAME_AFTER_HANDSHAKE -> {
                sendWithMemory(peer, hello);
                send(peer, hello);
            }
            case DESCRIPTOR_AFTER_HANDSHAKE -> {
                sendWithMemory(peer, hello);
                sendLingering(peer, new byte[] {1});
            }
            case DOORBELL_FLOOD -> {
                sendWithMemory(peer, hello);
                for (int i = 0; i < 1000; i++) {
                    send(peer, new byte[] {1});
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

    private void sendWithMemory(HostilePeer peer, byte[] bytes) {
        int memory = BadDescriptor.good(MEMORY_BYTES);
        send(peer, bytes, memory);
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
        send(peer, hello, bad);
        FileDescriptors.close(bad);
    }

    private void sendLingering(HostilePeer peer, byte[] bytes) throws IOException {
        try (LingeringSocket lingering = LingeringSocket.open()) {
            lingering.sent(send(peer, bytes, lingering.descriptor()));
        }
    }

    /** Keeps what it sends, and what it gets, and changes both while the victim uses them. */
    private void changeFlags(HostilePeer peer, byte[] hello) {
        int memory = BadDescriptor.good(MEMORY_BYTES);
        send(peer, hello, memory);
        List<Integer> shared = new ArrayList<>(List.of(memory));
        ReceivedMessage answer = peer.message();
        if (peer.tryReceive() && answer.descriptors() == 1) {
            shared.add(answer.descriptor(0));
        }
        for (int descriptor : shared) {
            RawSocket.fcntl(descriptor, RawSocket.F_SETOWN, victimPid);
            int flags = FileDescriptors.O_NONBLOCK | O_APPEND | O_ASYNC;
            if (RawSocket.fcntl(descriptor, RawSocket.F_SETFL, flags) == 0) {
                flagsChanged++;
            }
            SystemCalls.punchHole(descriptor, 0, MEMORY_BYTES);
        }
        FileDescriptors.close(memory);
    }
}
