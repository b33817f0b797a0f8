package io.softdpu.storage.workload;

/** Sequential and random request sources. */
final class RequestSources {
    private RequestSources() {}

    /** Sequential operations over the worker's part of the storage, once. */
    static RequestSource once(RequestSourceFactory.Range range) {
        return new Sequential(range, false);
    }

    /** Sequential operations over the worker's part of the storage, repeatedly. */
    static RequestSource endless(RequestSourceFactory.Range range) {
        return new Sequential(range, true);
    }

    /** Operations at random multiples of the operation's size in the worker's part. */
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

    /** Random offsets by SplitMix64; the high half of a product selects one without bias. */
    private static final class Random implements RequestSource {
        private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

        private final RequestSourceFactory.Range range;
        private final long places;
        private long state;

        Random(RequestSourceFactory.Range range, long seed) {
            this.range = range;
            this.places = (range.endByte() - range.firstByte()) / range.ioSizeBytes();
            // Different sequences per worker.
            this.state = seed + range.worker() * 0xD134_2543_DE82_EF95L;
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
