package io.softdpu.storage.workload;

/** The request sources that phases are usually made of. */
final class RequestSources {
    private RequestSources() {}

    /** One operation after the other through the core's part of the storage, once. */
    static RequestSource once(RequestSourceFactory.Range range) {
        return new Sequential(range, false);
    }

    /** The same again and again. */
    static RequestSource endless(RequestSourceFactory.Range range) {
        return new Sequential(range, true);
    }

    /** Any place of the core's part that is a multiple of the operation's size. */
    static RequestSource random(RequestSourceFactory.Range range, long seed) {
        return new Random(range, seed);
    }

    private static final class Sequential implements RequestSource {
        private final RequestSourceFactory.Range range;
        private final boolean again;
        private long next;

        Sequential(RequestSourceFactory.Range range, boolean again) {
            this.range = range;
            this.again = again;
            this.next = range.firstByte();
        }

        @Override
        public boolean next(int transaction, IoRequest request) {
            if (next == range.endByte()) {
                if (!again || range.firstByte() == range.endByte()) {
                    return false;
                }
                next = range.firstByte();
            }
            int size = (int) Math.min(range.ioSizeBytes(), range.endByte() - next);
            request.set(range.type(), size, range.requesterOffset(transaction, next), next);
            next += size;
            return true;
        }
    }

    /** SplitMix64 for the numbers, and the high half of a product for a place without bias. */
    private static final class Random implements RequestSource {
        private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

        private final RequestSourceFactory.Range range;
        private final long places;
        private long state;

        Random(RequestSourceFactory.Range range, long seed) {
            this.range = range;
            this.places = (range.endByte() - range.firstByte()) / range.ioSizeBytes();
            // Cores must not all go to the same places at the same time.
            this.state = seed + range.core() * 0xD134_2543_DE82_EF95L;
        }

        @Override
        public boolean next(int transaction, IoRequest request) {
            if (places == 0) {
                return false;
            }
            state += STEP;
            long z = state;
            z = (z ^ (z >>> 30)) * 0xBF58_476D_1CE4_E5B9L;
            z = (z ^ (z >>> 27)) * 0x94D0_49BB_1331_11EBL;
            z ^= z >>> 31;
            long place = Math.unsignedMultiplyHigh(z, places);
            long offset = range.firstByte() + place * range.ioSizeBytes();
            request.set(
                    range.type(),
                    range.ioSizeBytes(),
                    range.requesterOffset(transaction, offset),
                    offset);
            return true;
        }
    }
}
