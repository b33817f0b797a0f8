package io.softdpu.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.text.Text;
import org.junit.jupiter.api.Test;

final class MappedBytesTest {
    private static final long PAGE = SharedSegment.roundUpToPage(1);

    private final MappedBytes mapped = new MappedBytes(8 * PAGE, 6 * PAGE);

    @Test
    void shouldRefuseAPeerMoreThanItsShare() {
        mapped.reserve(11, 5 * PAGE);

        assertThatThrownBy(() -> mapped.reserve(11, PAGE + 1))
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e -> assertThat(e.kind()).isEqualTo(FabricException.Kind.LIMIT))
                .hasMessage(
                        Text.format(
                                "memory of one peer mapped here would exceed the limit: peerPid=11,"
                                        + " sizeBytes=%d, mappedOfPeerBytes=%d, mappedBytes=%d,"
                                        + " limitBytes=%d",
                                2 * PAGE, 5 * PAGE, 5 * PAGE, 6 * PAGE));
        assertThat(mapped.allBytes()).isEqualTo(5 * PAGE);
        mapped.reserve(11, PAGE);
    }

    @Test
    void shouldRefuseAllPeersMoreThanTheLimit() {
        mapped.reserve(11, 6 * PAGE);
        mapped.reserve(12, 2 * PAGE);

        assertThatThrownBy(() -> mapped.reserve(13, 1))
                .hasMessageStartingWith("memory of all peers mapped here would exceed the limit")
                .hasMessageContaining("peerPid=13, sizeBytes=" + PAGE)
                .hasMessageEndingWith("limitBytes=" + 8 * PAGE);
    }

    @Test
    void shouldLeaveRoomForOthersBesideAPeerWithAllThatItMayHave() {
        mapped.reserve(11, 6 * PAGE);

        mapped.reserve(12, 2 * PAGE).release();

        assertThat(mapped.allBytes()).isEqualTo(6 * PAGE);
    }

    @Test
    void shouldCountNoLongerWhatIsUnmapped() {
        MappedBytes.Reservation first = mapped.reserve(11, 3 * PAGE);
        MappedBytes.Reservation second = mapped.reserve(11, 3 * PAGE);

        first.release();
        mapped.reserve(11, 3 * PAGE);
        second.release();
        mapped.reserve(11, 3 * PAGE);

        assertThat(mapped.allBytes()).isEqualTo(6 * PAGE);
        assertThatThrownBy(first::release).isInstanceOf(IllegalStateException.class);
    }
}
