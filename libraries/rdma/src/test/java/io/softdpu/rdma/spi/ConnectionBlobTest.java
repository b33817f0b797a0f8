package io.softdpu.rdma.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.GoldenBytes;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionBlobTest {
    private static final GoldenBytes GOLDEN =
            GoldenBytes.of(
                    "53524443" // "SRDC"
                            + "0200" // version
                            + "0200" // sections
                            + "06000000" // RDMA_READ and RDMA_WRITE
                            + "995f2cc7" // check
                            + "0100" // provider 1
                            + "0000"
                            + "03000000" // bytes of details
                            + "73686d00000000000000000000000000" // shm
                            + "a1a2a3"
                            + "0200" // provider 2
                            + "0000"
                            + "00000000"
                            + "73697874656e2d636861726163746572"); // a name of full length

    private static final ConnectionBlob VALUE =
            new ConnectionBlob(
                    Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE),
                    List.of(
                            new ConnectionBlob.Section(
                                    1, "shm", new byte[] {(byte) 0xa1, (byte) 0xa2, (byte) 0xa3}),
                            new ConnectionBlob.Section(2, "sixten-character", new byte[0])));

    @Test
    void shouldWriteTheGoldenBytes() {
        assertThat(VALUE.encode()).isEqualTo(GOLDEN.bytes());
    }

    @Test
    void shouldReadTheGoldenBytes() {
        ConnectionBlob read = ConnectionBlob.decode(GOLDEN.bytes());

        assertThat(read.permissions()).isEqualTo(VALUE.permissions());
        assertThat(read.sections()).hasSize(2);
        assertThat(read.sections().get(0).providerId()).isEqualTo(1);
        assertThat(read.sections().get(0).name()).isEqualTo("shm");
        assertThat(read.sections().get(0).details()).containsExactly(0xa1, 0xa2, 0xa3);
        assertThat(read.sections().get(1).name()).isEqualTo("sixten-character");
        assertThat(read.sectionOf(2)).isSameAs(read.sections().get(1));
        assertThat(read.sectionOf(3)).isNull();
    }

    @ParameterizedTest
    @Clause("rdma-053")
    @CsvSource({
        "0, 54, magic",
        "6, 00, section count",
        "6, 09, section count",
        "8, 80, access flags",
        "12, 01, check",
        "8, 02, check",
        "40, a7, check",
        "16, 00, provider id",
        "18, 01, reserved",
        "23, 7f, details length",
        "24, 00, provider name",
        "24, 07, provider name",
        "30, 41, provider name",
        "43, 01, order",
        "43, 00, provider id"
    })
    void shouldRefuseADamagedFieldAndNameIt(int offset, String hex, String named) {
        assertThatThrownBy(() -> ConnectionBlob.decode(GOLDEN.with(offset, hex)))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(named);
    }

    @Test
    void shouldTellALaterVersionFromDamage() {
        byte[] later = GOLDEN.bytes();
        later[4] = 3;

        assertThatThrownBy(() -> ConnectionBlob.decode(later))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.UNSUPPORTED_VERSION))
                .hasMessageContaining("version=3");
    }

    @Test
    void shouldRefuseEveryShorterAndLongerBlob() {
        byte[] good = GOLDEN.bytes();
        for (int length = 0; length < good.length; length++) {
            byte[] shorter = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> ConnectionBlob.decode(shorter))
                    .as("length %d", length)
                    .isInstanceOf(DpuException.class);
        }
        assertThatThrownBy(() -> ConnectionBlob.decode(Arrays.copyOf(good, good.length + 1)))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("bytes after the last section");
    }

    @Test
    void shouldOnlyEverAnswerWithAValueOrADpuException(SeededRandom random) {
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = GOLDEN.hostile(random);
            try {
                ConnectionBlob read = ConnectionBlob.decode(bytes);
                assertThat(read.encode()).isEqualTo(bytes);
            } catch (DpuException e) {
                assertThat(e.status()).isIn(Status.INVALID_VALUE, Status.UNSUPPORTED_VERSION);
            }
        }
    }

    @Test
    void shouldNotLetTheCallerChangeWhatWasRead() {
        byte[] bytes = GOLDEN.bytes();
        ConnectionBlob read = ConnectionBlob.decode(bytes);
        Arrays.fill(bytes, (byte) 0xa5);
        assertThat(read.encode()).isEqualTo(GOLDEN.bytes());
    }

    @Test
    void shouldTakeTheMostOfEverySizeAndRefuseMore() {
        byte[] most = new byte[ConnectionBlob.MAX_DETAILS_BYTES];
        List<ConnectionBlob.Section> sections =
                IntStream.rangeClosed(1, ConnectionBlob.MAX_SECTIONS)
                        .mapToObj(id -> new ConnectionBlob.Section(id, "!" + id + "~", most))
                        .toList();
        ConnectionBlob blob = new ConnectionBlob(VALUE.permissions(), sections);

        ConnectionBlob read = ConnectionBlob.decode(blob.encode());

        assertThat(read.providerNames())
                .containsExactly("!1~", "!2~", "!3~", "!4~", "!5~", "!6~", "!7~", "!8~");
        assertThat(read.sections())
                .allSatisfy(section -> assertThat(section.details()).isEqualTo(most));
        List<ConnectionBlob.Section> more = new ArrayList<>(sections);
        more.add(new ConnectionBlob.Section(0xffff, "nine", new byte[0]));
        assertThatThrownBy(() -> new ConnectionBlob(VALUE.permissions(), more))
                .hasMessageContaining("section count, value=9");
        assertThatThrownBy(() -> new ConnectionBlob(VALUE.permissions(), List.of()))
                .hasMessageContaining("section count, value=0");
        assertThatThrownBy(() -> new ConnectionBlob.Section(1, "more", Arrays.copyOf(most, 4097)))
                .hasMessageContaining("details length, value=4097");
        assertThatThrownBy(() -> new ConnectionBlob.Section(0x10000, "more", new byte[0]))
                .hasMessageContaining("provider id, value=65536");
    }

    @ParameterizedTest
    @CsvSource({"20, provider name", "7f, provider name"})
    void shouldRefuseANameThatIsNotOfPrintableCharacters(String hex, String named) {
        byte[] damaged = GOLDEN.with(25, hex); // the second of its three

        assertThatThrownBy(() -> ConnectionBlob.decode(damaged)).hasMessageContaining(named);
    }

    /** A user who mixes up two exports is told which one it is. */
    @ParameterizedTest
    @CsvSource({
        "53444d58, 'an export of an mmap, for Mmap.createFromExport'",
        "53445345, 'an export of a sync event, for SyncEvent.createFromExport'",
        "53445352, 'an export of a sync event, for RemoteSyncEvent.createFromExport'"
    })
    void shouldSayWhichOtherBlobItIs(String magic, String blob) {
        byte[] other = new byte[200];
        System.arraycopy(HexFormat.of().parseHex(magic), 0, other, 0, 4);
        assertThatThrownBy(() -> ConnectionBlob.decode(other))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("field=magic, value=")
                .hasMessageEndingWith(
                        ", blob=" + blob + ", expected=RdmaConnection.blob() of the peer");
    }
}
