package nl.salonhub.multisafepay;

/**
 * The two MultiSafepay Pay apps this plugin can drive, and which of them a
 * device runs.
 *
 * MSP's own decision tree (their pos-android-integration guidance, 2026-08-24):
 * a SUNMI that has the SUNMI Pay app runs that app; everything else runs the
 * Tap to Pay app where its payment activity resolves. The manufacturer test
 * decides which dialect an installed SUNMI Pay app may claim: MSP ships that
 * app for SUNMI payment hardware only, so on any other device its presence is
 * noise. Each app's presence is still the package manager's answer, asked per
 * use, never sniffed off the device model.
 *
 * Pure Java on purpose: nothing here imports Android, so the tree and the
 * amount arithmetic are provable with plain JUnit on a JVM. The probes arrive
 * as booleans from the plugin, which is the only place that touches the
 * package manager and Build.MANUFACTURER.
 */
final class PayApp {

    /** The SUNMI Pay app on a MultiSafepay SmartPOS terminal. */
    static final String SUNMI = "sunmi";

    /** The Tap to Pay app on any NFC-capable Android 11+ device. */
    static final String TAP_TO_PAY = "tap-to-pay";

    /**
     * How long to wait for a Pay app's answer before answering UNKNOWN
     * ourselves: card payments time out at 180 seconds, after which the Pay
     * app has stopped and the server has expired the transaction and sent
     * its webhook, plus 30 seconds for that answer and that webhook to land.
     * Past this mark the backend answers definitively, so the consumer's own
     * poll behind it ends the payment properly.
     */
    static final long DEFAULT_TIMEOUT_MILLIS = 210_000L;

    private PayApp() {}

    /**
     * Which Pay app runs the payment on this device, or {@code null} for
     * neither.
     */
    static String select(boolean isSunmi, boolean sunmiAppInstalled, boolean tapToPayResolves) {
        if (isSunmi && sunmiAppInstalled) {
            return SUNMI;
        }
        if (tapToPayResolves) {
            return TAP_TO_PAY;
        }
        return null;
    }

    /**
     * The amount as a long of minor units, whatever numeric type the JSON
     * parser chose for it: org.json hands a JS integer over as an Integer (or
     * a Long once past 2^31) and a fractional value as a Double.
     * PluginCall.getLong only accepts a Long instance and PluginCall.getInt
     * only an Integer, so neither reads every honest value. A fraction of a
     * cent is not an amount and reads as {@code null}, as does anything that
     * is not a number at all.
     */
    static Long minorUnits(Object value) {
        return wholeNumber(value);
    }

    /**
     * The `timeout` option as milliseconds: absent is the default, a positive
     * whole number is itself, and anything else is {@code null}, which the
     * plugin refuses. A zero or negative watchdog would answer before the
     * Pay app could.
     */
    static Long timeoutMillis(Object value) {
        if (value == null) {
            return DEFAULT_TIMEOUT_MILLIS;
        }
        Long millis = wholeNumber(value);
        if (millis == null || millis <= 0) {
            return null;
        }
        return millis;
    }

    private static Long wholeNumber(Object value) {
        if (!(value instanceof Number)) {
            return null;
        }
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (Double.isInfinite(number) || number != Math.rint(number)) {
                return null;
            }
            return (long) number;
        }
        return ((Number) value).longValue();
    }

    /**
     * Minor units to the Tap to Pay wire's decimal string: one cent is
     * {@code "0.01"}. Integer math only, so no float ever names a price.
     * Amounts are non-negative by the plugin's own validation; refunds are
     * out of scope.
     */
    static String decimalAmount(long minorUnits) {
        long cents = minorUnits % 100;
        return (minorUnits / 100) + "." + (cents < 10 ? "0" : "") + cents;
    }
}
