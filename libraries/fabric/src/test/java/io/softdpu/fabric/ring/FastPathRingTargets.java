package io.softdpu.fabric.ring;

import static io.softdpu.fabric.ring.RingField.Effect.CHECKED;
import static io.softdpu.fabric.ring.RingField.Effect.IGNORED;
import static io.softdpu.fabric.ring.RingField.Effect.USED;

import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Both sides of a fast path ring as targets of mutations. */
final class FastPathRingTargets {
    private static final FastPathRing.Geometry GEOMETRY =
            new FastPathRing.Geometry(RingTarget.SLOTS);
    private static final long SLOTS_OFFSET = RingTarget.SLOTS_START + RingTarget.SLOTS * 16;

    private FastPathRingTargets() {}

    private static long posting(long index) {
        return RingTarget.SLOTS_START + index % RingTarget.SLOTS * 16;
    }

    private static long slot(long index) {
        return SLOTS_OFFSET + index % RingTarget.SLOTS * 128;
    }

    private static long randomCapacity(SeededRandom random) {
        return random.oneOf(1L, 63L, 64L, 65L, 100L, 4096L, 1L << 20);
    }

    /** The receiver; its peers write the slots. */
    static final class Receiver extends RingTarget {
        private final long[] capacities = new long[SLOTS];
        private FastPathConsumer victim;
        private long posted;
        private long completed;

        Receiver() {
            super(
                    "fast path receiver",
                    List.of(
                            RingField.head("posted", 256, 8, IGNORED),
                            RingField.head("owner armed", 384, 4, IGNORED),
                            RingField.head("peer armed", 512, 4, IGNORED),
                            RingField.head("status", 640, 4, IGNORED),
                            RingField.posting("posting offset", 0, IGNORED),
                            RingField.posting("posting capacity", 8, IGNORED),
                            RingField.slot("slot stamp", 0, 8, USED),
                            RingField.slot("slot length", 8, 8, CHECKED),
                            RingField.slot("slot producer id", 16, 4, USED),
                            RingField.slot("slot immediate length", 20, 1, CHECKED),
                            RingField.slot("slot flags", 21, 1, CHECKED),
                            RingField.slot("slot reserved 22", 22, 2, IGNORED),
                            RingField.slotBytes("slot data", 24, 64, USED),
                            RingField.slotBytes("slot immediate", 88, 32, USED),
                            RingField.slot("slot reserved 120", 120, 8, IGNORED)));
        }

        @Override
        long sizeBytes() {
            return GEOMETRY.sizeBytes();
        }

        @Override
        void prepare(MemorySegment ring, SeededRandom random) {
            victim = FastPathRing.consumer(ring, GEOMETRY);
            FastPathProducer peer = FastPathRing.producer(ring, GEOMETRY);
            posted = 0;
            for (long past = random.between(0, 2 * SLOTS); posted < past; ) {
                exchange(peer, ring, random);
                victim.poll();
                victim.release();
            }
            completed = posted;
            for (long more = random.between(1, SLOTS); more > 0; more--) {
                exchange(peer, ring, random);
            }
        }

        private void exchange(FastPathProducer peer, MemorySegment ring, SeededRandom random) {
            long capacity = randomCapacity(random);
            capacities[(int) (posted % SLOTS)] = capacity;
            victim.post(random.nextInt(), capacity);
            posted++;
            long length = random.between(0, capacity);
            long ticket = peer.claim(length);
            random.fill(ring.asSlice(peer.inlineOffset(ticket), 64));
            random.fill(ring.asSlice(peer.immediateOffset(ticket), 32));
            if (random.chance(0.1)) {
                peer.abandon(ticket, random.nextInt());
            } else {
                peer.commit(
                        ticket,
                        length,
                        random.nextInt(),
                        (int) random.between(0, 32),
                        length <= 64 && random.nextBoolean());
            }
        }

        @Override
        long pending(RingField.Place place, SeededRandom random) {
            long index = random.between(completed, posted - 1);
            return place == RingField.Place.SLOT ? slot(index) : posting(index);
        }

        @Override
        Outcome expect(MemorySegment copy) {
            Digest digest = new Digest();
            String end = "EMPTY";
            long next = completed;
            for (; next < posted && longAt(copy, slot(next)) == next + 1; next++) {
                long slot = slot(next);
                long length = longAt(copy, slot + 8);
                int immediate = byteAt(copy, slot + 20);
                int flags = byteAt(copy, slot + 21);
                boolean inline = (flags & 1) != 0;
                long capacity = capacities[(int) (next % SLOTS)];
                if (flags > 3) {
                    end = "slot flags";
                    break;
                } else if (length < 0 || length > capacity || (inline && length > 64)) {
                    end = "slot length";
                    break;
                } else if (immediate > 32) {
                    end = "slot immediate length";
                    break;
                }
                digest.add(length).add(intAt(copy, slot + 16)).add(immediate).add(flags);
                digest.add(copy, slot + 24, inline ? length : 0);
                digest.add(copy, slot + 88, immediate);
            }
            return new Outcome((int) (next - completed), digest.value(), end, false);
        }

        @Override
        Outcome decode() {
            Digest digest = new Digest();
            int units = 0;
            int polled = victim.poll();
            for (; polled == 1; polled = victim.poll()) {
                int flags = (victim.isInline() ? 1 : 0) | (victim.isAbandoned() ? 2 : 0);
                digest.add(victim.length()).add(victim.producerId());
                digest.add(victim.immediateLength()).add(flags);
                digest.add(
                        victim.segment(),
                        victim.inlineOffset(),
                        victim.isInline() ? victim.length() : 0);
                digest.add(victim.segment(), victim.immediateOffset(), victim.immediateLength());
                victim.release();
                units++;
            }
            String end = "EMPTY";
            if (polled != 0) {
                end = nameOf(victim.violation());
                if (victim.poll() != (int) FastPathRing.CORRUPT || !victim.arm()) {
                    throw new AssertionError("a corrupt ring has recovered");
                }
            }
            return new Outcome(units, digest.value(), end, false);
        }

        @Override
        void blankWritten(MemorySegment copy) {
            copy.asSlice(384, 4).fill((byte) 0);
        }
    }

    /** The sender; its peer owns the memory and posts. */
    static final class Sender extends RingTarget {
        private FastPathProducer victim;
        private long claimed;
        private long posted;
        private long request;
        private int claims;

        Sender() {
            super(
                    "fast path sender",
                    List.of(
                            RingField.head("posted", 256, 8, CHECKED),
                            RingField.head("owner armed", 384, 4, USED),
                            RingField.head("peer armed", 512, 4, IGNORED),
                            RingField.head("status", 640, 4, CHECKED),
                            RingField.posting("posting offset", 0, USED),
                            RingField.posting("posting capacity", 8, CHECKED),
                            RingField.slot("slot stamp", 0, 8, IGNORED),
                            RingField.slot("slot length", 8, 8, IGNORED),
                            RingField.slot("slot producer id", 16, 4, IGNORED),
                            RingField.slot("slot immediate length", 20, 1, IGNORED),
                            RingField.slot("slot flags", 21, 1, IGNORED),
                            RingField.slot("slot reserved 22", 22, 2, IGNORED),
                            RingField.slotBytes("slot data", 24, 64, IGNORED),
                            RingField.slotBytes("slot immediate", 88, 32, IGNORED),
                            RingField.slot("slot reserved 120", 120, 8, IGNORED)));
        }

        @Override
        long sizeBytes() {
            return GEOMETRY.sizeBytes();
        }

        @Override
        void prepare(MemorySegment ring, SeededRandom random) {
            FastPathConsumer peer = FastPathRing.consumer(ring, GEOMETRY);
            victim = FastPathRing.producer(ring, GEOMETRY);
            request = random.oneOf(0L, 1L, 63L, 64L);
            long past = random.between(0, 2 * SLOTS);
            for (claimed = 0; claimed < past; claimed++) {
                peer.post(random.nextInt(), randomCapacity(random));
                victim.commit(victim.claim(0), 0, 1, 0, true);
                peer.poll();
                peer.release();
            }
            posted = claimed;
            for (long more = random.between(1, SLOTS); more > 0; more--) {
                peer.post(random.nextInt(), request + random.between(0, 2));
                posted++;
            }
            if (random.nextBoolean()) {
                peer.arm();
            }
        }

        @Override
        long pending(RingField.Place place, SeededRandom random) {
            long index = random.between(claimed, posted - 1);
            return place == RingField.Place.SLOT ? slot(index) : posting(index);
        }

        @Override
        Outcome expect(MemorySegment copy) {
            Digest digest = new Digest();
            long limit = longAt(copy, 256);
            String end = null;
            long next = claimed;
            while (end == null) {
                long capacity = longAt(copy, posting(next) + 8);
                if (intAt(copy, 640) != 0) {
                    end = "CLOSING";
                } else if (limit == next) {
                    end = "EMPTY";
                } else if (limit < next || limit - next > SLOTS) {
                    end = "posted index";
                } else if (capacity < 0) {
                    end = "posting capacity";
                } else if (capacity < request) {
                    end = "TOO_LARGE";
                } else {
                    digest.add(next).add(longAt(copy, posting(next)));
                    next++;
                }
            }
            return new Outcome((int) (next - claimed), digest.value(), end, intAt(copy, 384) != 0);
        }

        @Override
        Outcome decode() {
            Digest digest = new Digest();
            claims = 0;
            long ticket = victim.claim(request);
            for (; ticket >= 0; ticket = victim.claim(request)) {
                digest.add(ticket).add(victim.regionOffset(ticket));
                victim.commit(ticket, request, 9, 0, true);
                claims++;
            }
            String end =
                    switch ((int) ticket) {
                        case (int) FastPathRing.NO_BUFFER -> "EMPTY";
                        case (int) FastPathRing.TOO_LARGE -> "TOO_LARGE";
                        case (int) FastPathRing.CLOSING -> "CLOSING";
                        default -> nameOf(victim.violation());
                    };
            if (ticket == FastPathRing.CORRUPT && victim.claim(0) != FastPathRing.CORRUPT) {
                throw new AssertionError("a corrupt ring has recovered");
            }
            return new Outcome(claims, digest.value(), end, victim.peerArmed());
        }

        @Override
        void blankWritten(MemorySegment copy) {
            copy.asSlice(384, 4).fill((byte) 0);
            for (long next = claimed; next < claimed + claims; next++) {
                copy.asSlice(slot(next), 22).fill((byte) 0);
            }
        }
    }
}
