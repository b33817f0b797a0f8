package io.softdpu.comch;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.comch.wire.Welcome;
import io.softdpu.core.device.Topology;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Client process that performs a correct handshake, shares four rings with the server, and then
 * writes arbitrary values to each word of them, repeatedly while the server reads; when it is
 * disconnected it connects again. After a number of writes it prints {@code enough} and goes on
 * until it reads a line; it ends with the number of writes per word.
 */
public final class RingAttacker {
    /** What it prints when it has written as much as it was asked for. */
    static final String ENOUGH = "enough";

    private static final long PAUSE_NANOS = 100_000;
    private static final int BURST = 16;
    private static final int BURSTS_A_CONNECTION = 64;
    private static final FastPathRing.Geometry FAST = new FastPathRing.Geometry(8);
    private static final MessageRing.Geometry QUEUE = RogueClient.TERMS.ring();
    private static final long FAST_SLOTS = 1024 + FAST.slots() * 16L;
    private static final int RECEIVE_BYTES = 4096;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /** A word of one of the rings; slots lie a stride apart. */
    private record Field(String name, int ring, long offset, int widthBytes, long strideBytes) {}

    /**
     * Words that the server reads, by the end of the name; see the tests of the rings themselves.
     */
    private static final Set<String> LOOKED =
            Set.of(
                    "server-queue/peer-armed",
                    "server-queue/slot-stamp",
                    "server-queue/slot-length",
                    "server-queue/slot-type",
                    "server-queue/slot-word",
                    "own-queue/consumed",
                    "own-queue/owner-armed",
                    "own-consumer/consumed",
                    "own-consumer/status",
                    "own-consumer/owner-armed",
                    "own-consumer/posting-offset",
                    "own-consumer/posting-capacity",
                    "server-consumer/slot-stamp",
                    "server-consumer/slot-length",
                    "server-consumer/slot-immediate-length",
                    "server-consumer/slot-flags");

    private final Bus bus;
    private final String serverName;
    private final SeededRandom random;
    private final int wanted;
    private final List<Field> looked = new ArrayList<>();
    private final List<Field> others = new ArrayList<>();
    private final Map<String, Integer> writes = new TreeMap<>();
    private int mutations;
    private int turn;
    private boolean enough;
    private int connections;
    private int forceRelease;

    private RingAttacker(Bus bus, String serverName, SeededRandom random, int wanted) {
        this.bus = bus;
        this.serverName = serverName;
        this.random = random;
        this.wanted = wanted;
        String[] rings = {"server-queue", "own-queue", "own-consumer", "server-consumer"};
        for (int ring = 0; ring < rings.length; ring++) {
            addHead(rings[ring], ring);
            if (ring < 2) {
                long stride = QUEUE.strideBytes();
                add(rings[ring] + "/slot-length", ring, 1024, 4, stride);
                add(rings[ring] + "/slot-type", ring, 1028, 4, stride);
                add(rings[ring] + "/slot-word", ring, 1032, 8, stride);
                add(rings[ring] + "/slot-stamp", ring, 1040, 8, stride);
                add(rings[ring] + "/slot-payload", ring, 1048, 8, stride);
            } else {
                addFastPath(rings[ring], ring);
            }
        }
    }

    private void addHead(String name, int ring) {
        add(name + "/magic", ring, 0, 8, 0);
        add(name + "/version", ring, 8, 4, 0);
        add(name + "/kind", ring, 12, 4, 0);
        add(name + "/slots", ring, 16, 4, 0);
        add(name + "/max-payload", ring, 20, 4, 0);
        add(name + "/consumed", ring, 256, 8, 0);
        add(name + "/owner-armed", ring, 384, 4, 0);
        add(name + "/peer-armed", ring, 512, 4, 0);
        add(name + "/status", ring, 640, 4, 0);
    }

    private void addFastPath(String name, int ring) {
        // Both have 8 slots: the server under attack posts as many.
        long slots = FAST_SLOTS;
        add(name + "/posting-offset", ring, 1024, 8, 16);
        add(name + "/posting-capacity", ring, 1032, 8, 16);
        add(name + "/slot-stamp", ring, slots, 8, 128);
        add(name + "/slot-length", ring, slots + 8, 8, 128);
        add(name + "/slot-producer-id", ring, slots + 16, 4, 128);
        add(name + "/slot-immediate-length", ring, slots + 20, 1, 128);
        add(name + "/slot-flags", ring, slots + 21, 1, 128);
        add(name + "/slot-reserved", ring, slots + 22, 2, 128);
        add(name + "/slot-data", ring, slots + 24, 8, 128);
        add(name + "/slot-immediate", ring, slots + 88, 8, 128);
    }

    private void add(String name, int ring, long offset, int widthBytes, long strideBytes) {
        (LOOKED.contains(name) ? looked : others)
                .add(new Field(name, ring, offset, widthBytes, strideBytes));
    }

    /** Arguments: fabric folder, bus name of the server, seed, how many writes at least. */
    public static void main(String[] arguments) throws Exception {
        Topology topology = Topology.builtin();
        Bus.Config config =
                new Bus.Config(
                        Path.of(arguments[0]),
                        topology.sha256(),
                        topology.name(),
                        Patience.NANOS,
                        1L << 30,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE);
        try (Bus bus = Bus.open(config)) {
            RingAttacker attacker =
                    new RingAttacker(
                            bus,
                            arguments[1],
                            new SeededRandom(Long.parseLong(arguments[2])),
                            Integer.parseInt(arguments[3]));
            attacker.run();
            attacker.writes.forEach(
                    (name, count) -> System.out.println("wrote " + name + "=" + count));
            System.out.println(
                    Text.format(
                            "done mutations=%d, connections=%d, cut-off=%d",
                            attacker.mutations, attacker.connections, attacker.forceRelease));
        }
    }

    /** Whether it has written enough, and the test has seen what it wanted. */
    private boolean isOver() throws IOException {
        if (!enough && mutations >= wanted) {
            enough = true;
            System.out.println(ENOUGH);
        }
        return enough && System.in.available() > 0;
    }

    /** Most of the effort goes to what is read, each of it in turn. */
    private Field nextField() {
        return random.chance(0.6)
                ? looked.get(turn++ % looked.size())
                : others.get(random.nextInt(others.size()));
    }

    private void run() throws Exception {
        while (!isOver()) {
            try (Connection connection = new Connection()) {
                connections++;
                if (connection.open()) {
                    connection.attack();
                }
                if (connection.isCutOff()) {
                    forceRelease++;
                }
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof FabricException)) {
                    throw e;
                }
                // Refused while it still clears the last connections up; the next try counts.
            }
        }
    }

    /** One connection, from the handshake until it is closed or has written enough. */
    private final class Connection implements AutoCloseable {
        private final SharedSegment queue;
        private final MessageRing.Consumer inbound;
        private final SharedSegment consumerRing =
                SharedSegment.allocate("hostile", FAST.sizeBytes());
        private final SharedSegment receives = SharedSegment.allocate("hostile", RECEIVE_BYTES);
        private final ExportedRegion exportedRing = bus.export(consumerRing, true, null);
        private final ExportedRegion exportedReceives = bus.export(receives, true, null);
        private final List<ImportedRegion> imports = new ArrayList<>();
        private final MemorySegment[] rings = new MemorySegment[4];
        private Attachment attachment;
        private long produced;
        private long posted;
        private long completed;
        private long claimed;
        private boolean accepted;

        private Connection() {
            queue = SharedSegment.allocate("hostile", RogueClient.TERMS.ring().sizeBytes());
            inbound = MessageRing.consumer(queue.segment(), QUEUE);
            var _ = FastPathRing.consumer(consumerRing.segment(), FAST);
        }

        boolean isCutOff() {
            return attachment != null && attachment.link().peerGone();
        }

        /** Connects like a correct client; false if the server has closed it meanwhile. */
        boolean open() throws Exception {
            attachment =
                    bus.connect(serverName, RogueClient.hello(), queue, Patience.NANOS)
                            .future()
                            .get(Patience.SECONDS, TimeUnit.SECONDS);
            MessageRing.Geometry theirs = Welcome.decode(attachment.payload()).terms().ring();
            if (!theirs.equals(QUEUE)) {
                throw new AssertionError("queue of the server: " + theirs);
            }
            rings[0] = attachment.remote().segment();
            rings[1] = queue.segment();
            rings[2] = consumerRing.segment();
            byte[] announcement = new byte[ConsumerAnnouncement.WIRE_BYTES];
            new ConsumerAnnouncement(
                            FAST.slots(), exportedRing.address(), exportedReceives.address())
                    .encode(MemorySegment.ofArray(announcement), 0);
            write(MessageType.CONSUMER_NEW, ControlWord.of(1), announcement);
            long begin = System.nanoTime();
            while (!isCutOff() && !(accepted && rings[3] != null)) {
                if (!receive()) {
                    LockSupport.parkNanos(PAUSE_NANOS); // the server needs the processor
                }
                if (System.nanoTime() - begin > Patience.DEADLINE.toNanos()) {
                    throw new AssertionError("server does not answer, accepted=" + accepted);
                }
            }
            return !isCutOff();
        }

        private boolean receive() throws Exception {
            long at = inbound.poll();
            if (at < 0) {
                return false;
            }
            if (inbound.type() == MessageType.CONSUMER_READY.code()) {
                accepted = true;
            } else if (inbound.type() == MessageType.CONSUMER_NEW.code()) {
                byte[] bytes =
                        inbound.segment()
                                .asSlice(at, ConsumerAnnouncement.WIRE_BYTES)
                                .toArray(ValueLayout.JAVA_BYTE);
                join(ConsumerAnnouncement.decode(MemorySegment.ofArray(bytes), 0, bytes.length));
                write(MessageType.CONSUMER_READY, inbound.word(), new byte[0]);
            }
            inbound.release();
            return true;
        }

        private void join(ConsumerAnnouncement announced) throws Exception {
            var ring = bus.importRegion(announced.ring(), true, true, Patience.NANOS).future();
            var memory = bus.importRegion(announced.memory(), true, true, Patience.NANOS).future();
            imports.add(ring.get(Patience.SECONDS, TimeUnit.SECONDS));
            imports.add(memory.get(Patience.SECONDS, TimeUnit.SECONDS));
            rings[3] = imports.get(0).memory().segment();
            if (announced.slots() != FAST.slots()) {
                throw new AssertionError("slots of the server's consumer: " + announced.slots());
            }
        }

        /** Writes a slot directly, so that it can hold anything. */
        private void write(MessageType type, long word, byte[] payload) {
            if (produced - rings[0].get(ValueLayout.JAVA_LONG, 256) < 32) {
                prepareMessage(type, word, payload);
                publishMessage();
                attachment.link().ring();
            }
        }

        private void prepareMessage(MessageType type, long word, byte[] payload) {
            long at = slot(0, 1024, produced);
            MemorySegment.copy(
                    payload, 0, rings[0], ValueLayout.JAVA_BYTE, at + 24, payload.length);
            rings[0].set(ValueLayout.JAVA_INT, at, payload.length);
            rings[0].set(ValueLayout.JAVA_INT, at + 4, type.code());
            rings[0].set(ValueLayout.JAVA_LONG, at + 8, word);
        }

        private void publishMessage() {
            produced++;
            LONG.setRelease(rings[0], slot(0, 1024, produced - 1) + 16, produced);
        }

        private void preparePosting(long offset) {
            long at = slot(2, 1024, posted);
            rings[2].set(ValueLayout.JAVA_LONG, at, offset);
            rings[2].set(ValueLayout.JAVA_LONG, at + 8, RECEIVE_BYTES / 2);
        }

        private void publishPosting() {
            posted++;
            LONG.setRelease(rings[2], 256L, posted);
        }

        private void prepareSend() {
            long at = slot(3, FAST_SLOTS, claimed);
            rings[3].set(ValueLayout.JAVA_LONG, at + 8, 60);
            rings[3].set(ValueLayout.JAVA_BYTE, at + 20, (byte) 8);
            rings[3].set(ValueLayout.JAVA_BYTE, at + 21, (byte) 1);
        }

        private void publishSend() {
            claimed++;
            LONG.setRelease(rings[3], slot(3, FAST_SLOTS, claimed - 1), claimed);
        }

        private boolean canPost() {
            while (completed < posted && isStamped(completed)) {
                completed++;
            }
            return posted - completed < FAST.slots();
        }

        /** Whether the server has filled the buffer of that posting. */
        private boolean isStamped(long posting) {
            return (long) LONG.getAcquire(rings[2], slot(2, FAST_SLOTS, posting)) == posting + 1;
        }

        private boolean canSend() {
            return rings[3].get(ValueLayout.JAVA_LONG, 256) > claimed;
        }

        private long slot(int ring, long start, long index) {
            if (ring < 2) {
                return start + index % QUEUE.slots() * QUEUE.strideBytes();
            }
            return start + index % FAST.slots() * (start == 1024 ? 16 : 128);
        }

        void attack() throws Exception {
            for (int i = 0; i < BURSTS_A_CONNECTION && !isCutOff() && !isOver(); i++) {
                behave();
                burst(nextField());
            }
        }

        /** Sends correct messages, so that the server reads each ring. */
        private void behave() throws Exception {
            write(MessageType.DATA, 0, random.bytes(random.nextInt(200)));
            for (int i = 0; i < 16 && !inbound.corrupt(); i++) {
                if (!receive()) {
                    break;
                }
            }
            // Few, so that a posting that is attacked soon has its turn.
            while (canPost() && posted - completed < 2) {
                preparePosting(random.nextInt(RECEIVE_BYTES / 2));
                publishPosting();
            }
            // Bounded: the word that it goes by may be one that this peer has overwritten itself.
            for (int i = 0; i < FAST.slots() && canSend(); i++) {
                prepareSend();
                publishSend();
            }
        }

        /** Writes to one word, before and while the server reads it, and leaves it illegal. */
        private void burst(Field field) {
            MemorySegment ring = rings[field.ring];
            Runnable publish = prepare(field);
            long index =
                    switch (field.ring) {
                        case 0 -> produced;
                        case 2 -> posted;
                        case 3 -> claimed;
                        default -> random.nextInt(QUEUE.slots());
                    };
            long start = field.ring < 2 || field.name.contains("posting") ? 1024 : FAST_SLOTS;
            long at =
                    field.strideBytes == 0
                            ? field.offset
                            : field.offset - start + slot(field.ring, start, index);
            boolean isStamp = field.name.equals("server-queue/slot-stamp");
            long good = isStamp ? index + 1 : read(ring, at, field.widthBytes);
            for (int i = 0; i < BURST; i++) {
                if (i == BURST / 2) {
                    publish.run();
                    ringAll();
                }
                // Of a capacity only a negative one is refused at sight.
                boolean negative = field.name.endsWith("posting-capacity") && random.chance(0.5);
                long value = value(good);
                put(ring, at, field.widthBytes, negative ? value | Long.MIN_VALUE : value);
                mutations++;
                writes.merge(field.name, 1, Integer::sum);
                for (int spins = random.nextInt(200); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                if (i < BURST - 1 && random.chance(0.3)) {
                    put(ring, at, field.widthBytes, good);
                }
            }
            if (isStamp) {
                put(ring, at, field.widthBytes, good); // else the server waits for this message
            }
            prepareMessage(MessageType.DATA, 0, new byte[1]);
            publishMessage();
            ringAll();
            boolean isPosting = field.ring == 2 && field.strideBytes != 0 && posted > 0;
            for (int i = 0; i < 1000 && !isCutOff(); i++) {
                long taken = (long) LONG.getAcquire(rings[0], 256L);
                if (taken >= produced && (!isPosting || isStamped(posted - 1))) {
                    break; // the server has had its look
                }
                Thread.yield(); // it may be on the same core
            }
            if (!field.name.endsWith("consumed")) {
                put(ring, at, field.widthBytes, good);
            } else {
                LONG.setRelease(rings[1], 256L, inbound.consumed());
                LONG.setRelease(rings[2], 256L, posted);
            }
        }

        /** An action that makes the server read the next descriptor of the field's ring. */
        private Runnable prepare(Field field) {
            if (field.strideBytes == 0) {
                return () -> {};
            }
            if (field.ring == 0) {
                prepareMessage(MessageType.DATA, 0, new byte[4]);
                return this::publishMessage;
            }
            if (field.ring == 2 && field.name.contains("posting") && canPost()) {
                preparePosting(0);
                return this::publishPosting;
            }
            if (field.ring == 3 && !field.name.contains("posting") && canSend()) {
                prepareSend();
                return this::publishSend;
            }
            return () -> {};
        }

        private void ringAll() {
            attachment.link().ring();
            for (ImportedRegion region : imports) {
                region.link().ring();
            }
        }

        private long value(long good) {
            return switch (random.nextInt(4)) {
                case 0 ->
                        random.oneOf(
                                0L,
                                1L,
                                -1L,
                                4L,
                                8L,
                                9L,
                                33L,
                                65L,
                                128L,
                                129L,
                                4080L,
                                4081L,
                                4096L,
                                (long) Integer.MAX_VALUE,
                                (long) Integer.MIN_VALUE,
                                1L << 40,
                                Long.MAX_VALUE,
                                Long.MIN_VALUE);
                case 1 -> good + random.oneOf(1L, -1L, 2L, 8L, 128L, -8L);
                case 2 -> good ^ 1L << random.nextInt(64);
                default -> random.nextLong();
            };
        }

        @Override
        public void close() {
            imports.forEach(ImportedRegion::close);
            exportedRing.revoke();
            exportedReceives.revoke();
            if (attachment != null) {
                attachment.link().close();
                attachment.remote().release();
            }
            consumerRing.release();
            receives.release();
            queue.release();
        }
    }

    private static long read(MemorySegment ring, long at, int widthBytes) {
        return switch (widthBytes) {
            case 1 -> ring.get(ValueLayout.JAVA_BYTE, at);
            case 2 -> ring.get(ValueLayout.JAVA_SHORT, at);
            case 4 -> ring.get(ValueLayout.JAVA_INT, at);
            default -> ring.get(ValueLayout.JAVA_LONG, at);
        };
    }

    private static void put(MemorySegment ring, long at, int widthBytes, long value) {
        switch (widthBytes) {
            case 1 -> ring.set(ValueLayout.JAVA_BYTE, at, (byte) value);
            case 2 -> ring.set(ValueLayout.JAVA_SHORT, at, (short) value);
            case 4 -> ring.set(ValueLayout.JAVA_INT, at, (int) value);
            default -> ring.set(ValueLayout.JAVA_LONG, at, value);
        }
    }
}
