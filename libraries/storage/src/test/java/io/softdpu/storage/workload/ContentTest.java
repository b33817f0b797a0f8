package io.softdpu.storage.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.NamedPipe;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContentTest {
    @TempDir private Path folder;

    @Test
    void shouldGiveTheSameBytesForAnyPieceAsForTheWhole(SeededRandom random) throws Exception {
        byte[] file = new byte[5000];
        random.nextBytes(file);
        Path path = Files.write(folder.resolve("content"), file);
        for (Content content :
                List.of(
                        Content.pattern(random.nextLong()),
                        Content.indexModulo256(),
                        Content.zeros(),
                        Content.file(path))) {
            byte[] whole = new byte[5000];
            content.fill(MemorySegment.ofArray(whole), 0);
            for (int round = 0; round < 300; round++) {
                int from = random.nextInt(4999);
                int to = random.nextInt(from + 1, 5000);
                byte[] piece = new byte[to - from + 2];
                Arrays.fill(piece, (byte) 0xA5);
                content.fill(MemorySegment.ofArray(piece).asSlice(1, to - from), from);
                assertThat(Arrays.copyOfRange(piece, 1, piece.length - 1))
                        .as("%s from %d to %d", content, from, to)
                        .isEqualTo(Arrays.copyOfRange(whole, from, to));
                assertThat(piece[0]).isEqualTo((byte) 0xA5);
                assertThat(piece[piece.length - 1]).isEqualTo((byte) 0xA5);
            }
        }
    }

    @Test
    void shouldHoldThePatternThatIsWrittenDown() {
        byte[] bytes = new byte[16];

        Content.pattern(0).fill(MemorySegment.ofArray(bytes), 8);

        // SplitMix64 with seed 0: its first outputs are e220a8397b1dcdaf and 6e789e6aa1b965f4.
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo("afcd1d7b39a820e2f465b9a16a9e786e");
    }

    @Test
    void shouldCountIndicesModulo256() {
        byte[] bytes = new byte[300];

        Content.indexModulo256().fill(MemorySegment.ofArray(bytes), 250);

        for (int i = 0; i < bytes.length; i++) {
            assertThat(bytes[i]).isEqualTo((byte) (250 + i));
        }
    }

    @Test
    void shouldDigestTheFirstBytes() throws Exception {
        long size = (3L << 20) + 17;
        byte[] whole = new byte[(int) size];
        Content content = Content.pattern(42);
        content.fill(MemorySegment.ofArray(whole), 0);
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(whole);

        assertThat(content.sha256(size)).isEqualTo(HexFormat.of().formatHex(digest));
    }

    @Test
    void shouldNameAFileThatIsMissingOrTooShort() throws Exception {
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> Content.file(missing).sizeBytes())
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED))
                .hasMessageContaining("missing");

        Path small = Files.write(folder.resolve("short"), new byte[10]);
        assertThatThrownBy(() -> Content.file(small).fill(MemorySegment.ofArray(new byte[11]), 0))
                .hasMessageContaining("sizeBytes=10, expected=11 bytes or more");
    }

    @Test
    void shouldRefuseAPipeWithoutWaitingForAWriter() {
        try (NamedPipe pipe = NamedPipe.create(folder.resolve("pipe"))) {
            Content content = Content.file(pipe.path());
            for (Callable<?> use :
                    List.<Callable<?>>of(content::sizeBytes, () -> content.sha256(512))) {
                assertThatThrownBy(() -> Bounded.call("use of a pipe", use))
                        .isInstanceOfSatisfying(
                                DpuException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                        .hasMessage(
                                "file is refused: file="
                                        + pipe.path()
                                        + ", reason=it is a pipe, expected=a regular file");
            }
        }
    }
}
