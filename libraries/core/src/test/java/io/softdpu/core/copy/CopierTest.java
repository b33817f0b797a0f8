package io.softdpu.core.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Both ways to copy, and the choice between them. */
final class CopierTest {
    private static final int LIMIT = (int) Copier.COPIED_BY_LIBC_BYTES;
    private static final int OFFSET = 24;
    private static final ClassDesc SEGMENT = MemorySegment.class.describeConstable().orElseThrow();

    @TempDir Path folder;

    private final Copier copier = new Copier();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 3 * LIMIT})
    void shouldCopyAndCountBetweenMemoryOfEachKind(int sizeBytes) throws IOException {
        byte[] bytes = new byte[sizeBytes + OFFSET];
        new Random(sizeBytes).nextBytes(bytes);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment[] kinds = {
                MemorySegment.ofArray(new byte[bytes.length]),
                arena.allocate(bytes.length),
                mapped(bytes.length, arena)
            };
            long copied = 0;
            for (int from = 0; from < kinds.length; from++) {
                for (int to = 0; to < kinds.length; to++) {
                    if (from == to) {
                        continue;
                    }
                    MemorySegment source = kinds[from];
                    MemorySegment destination = kinds[to];
                    source.copyFrom(MemorySegment.ofArray(bytes));
                    destination.fill((byte) 0x5a);

                    copier.payload(source, OFFSET, destination, 0, sizeBytes);

                    copied += sizeBytes;
                    assertThat(copier.payloadBytes()).isEqualTo(copied);
                    assertThat(
                                    MemorySegment.mismatch(
                                            source,
                                            OFFSET,
                                            bytes.length,
                                            destination,
                                            0,
                                            sizeBytes))
                            .isEqualTo(-1);
                    assertThat(destination.get(ValueLayout.JAVA_BYTE, sizeBytes))
                            .isEqualTo((byte) 0x5a);
                }
            }
        }
    }

    @Test
    void shouldCopyAWordAndCountIt() {
        MemorySegment words = MemorySegment.ofArray(new long[] {0, 0x8123_4567_89ab_cdefL});
        MemorySegment bytes = MemorySegment.ofArray(new byte[16]);

        copier.loadWord(words, 8, bytes, 3);

        assertThat(bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, 3)).isEqualTo(0x8123_4567_89ab_cdefL);
        copier.storeWord(bytes, 3, words, 0);
        assertThat(words.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x8123_4567_89ab_cdefL);
        assertThat(copier.payloadBytes()).isEqualTo(16);
    }

    /** As compiled: on a processor that reorders neither stores nor loads no run would tell. */
    @ParameterizedTest
    @CsvSource({"loadWord, getAcquire", "storeWord, setRelease"})
    void shouldOrderAWordAfterTheDataBeforeIt(String method, String access) throws IOException {
        byte[] compiled;
        try (InputStream in = Copier.class.getResourceAsStream("Copier.class")) {
            compiled = in.readAllBytes();
        }
        List<String> accesses =
                ClassFile.of().parse(compiled).methods().stream()
                        .filter(each -> each.methodName().equalsString(method))
                        .flatMap(each -> each.code().orElseThrow().elementStream())
                        .filter(InvokeInstruction.class::isInstance)
                        .map(InvokeInstruction.class::cast)
                        .filter(call -> call.typeSymbol().parameterList().contains(SEGMENT))
                        .filter(call -> call.owner().asInternalName().endsWith("/VarHandle"))
                        .map(call -> call.name().stringValue())
                        .toList();
        assertThat(accesses).containsExactly(access);
    }

    @Test
    void shouldSurviveAUsersFileThatIsTruncatedUnderTheCopy() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment file = mapped(3 * LIMIT, arena);
            truncate();
            MemorySegment destination = arena.allocate(3 * LIMIT);

            assertThatThrownBy(() -> copier.payload(file, 0, destination, 0, 3 * LIMIT))
                    .isInstanceOf(InternalError.class);
        }
    }

    @Test
    void shouldGiveMemoryBackThatIsReleasedWhileItIsCopied() throws Exception {
        for (int i = 0; i < 50; i++) {
            LeakCheck before = LeakCheck.begin(folder);
            SharedSegment shared = SharedSegment.allocate("released", 8L * LIMIT);
            CountDownLatch copying = new CountDownLatch(1);
            CompletableFuture<Void> copies =
                    CompletableFuture.runAsync(() -> copyUntilItIsGone(shared, copying));
            assertThat(copying.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();

            shared.release();

            assertThatThrownBy(() -> copies.get(Patience.SECONDS, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(IllegalStateException.class);
            before.assertNothingLeft();
        }
    }

    private static void copyUntilItIsGone(SharedSegment shared, CountDownLatch copying) {
        Copier copier = new Copier();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(2L * LIMIT);
            while (true) {
                copier.payload(shared.segment(), 0, into, 0, into.byteSize());
                copying.countDown();
            }
        }
    }

    private MemorySegment mapped(long sizeBytes, Arena arena) throws IOException {
        try (FileChannel file =
                FileChannel.open(
                        folder.resolve("mapped"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            return file.map(MapMode.READ_WRITE, 0, sizeBytes, arena);
        }
    }

    private void truncate() throws IOException {
        try (FileChannel file =
                FileChannel.open(folder.resolve("mapped"), StandardOpenOption.WRITE)) {
            file.truncate(0);
        }
    }
}
