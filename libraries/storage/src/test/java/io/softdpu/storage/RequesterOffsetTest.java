package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.IoRequest;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import io.softdpu.storage.workload.RequestSourceFactory.Range;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads and writes whose places in the initiator's memory are not those in the storage. */
class RequesterOffsetTest {
    private static final int VOLUME_BYTES = 2 << 20;
    private static final int BLOCK = 4096;

    @TempDir private Path folder;

    @Test
    @Clause({"sto-020", "sto-022"})
    void shouldMoveEachBlockBetweenItsTwoPlaces() {
        Content written = Content.pattern(11);
        List<Phase> phases =
                List.of(
                        Phase.read("read reversed")
                                .transactions(8)
                                .source(RequesterOffsetTest::reversed)
                                .fill(Content.zeros())
                                .expect(reversed(Content.pattern(Content.VOLUME_PATTERN_SEED)))
                                .build(),
                        Phase.write("write reversed")
                                .transactions(8)
                                .source(RequesterOffsetTest::reversed)
                                .fill(reversed(written))
                                .build(),
                        Phase.read("read back")
                                .transactions(8)
                                .fill(Content.zeros())
                                .expect(written)
                                .build());
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, new Workload(phases));

            initiator.run();

            assertThat(initiator.initiatorReport().bytesVerified()).isEqualTo(2L * VOLUME_BYTES);
            assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
            assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
        }
    }

    /** One request for each block, with the last block of the storage first in the memory. */
    private static RequestSource reversed(Range range) {
        return new RequestSource() {
            private long next = range.firstByte();

            @Override
            public boolean next(int transaction, IoRequest request) {
                if (next == range.endByte()) {
                    return false;
                }
                request.set(range.type(), BLOCK, VOLUME_BYTES - BLOCK - next, next);
                next += BLOCK;
                return true;
            }
        };
    }

    /** The blocks of a content in the opposite order. */
    private static Content reversed(Content content) {
        return new Content() {
            @Override
            public void fill(MemorySegment destination, long offset) {
                for (long at = 0; at < destination.byteSize(); at += BLOCK) {
                    content.fill(
                            destination.asSlice(at, BLOCK), VOLUME_BYTES - BLOCK - (offset + at));
                }
            }

            @Override
            public String toString() {
                return "reversed " + content;
            }
        };
    }
}
