package com.br.kairoo.plugins;

import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.app.Service;
import android.content.Intent;
import android.media.MediaRecorder;
import android.os.Binder;
import android.os.Build;
import android.os.IBinder;
import androidx.core.app.NotificationCompat;
import java.io.IOException;

public class RecordingService extends Service {

    public static final String ACTION_START_RECORDING = "START_RECORDING";
    public static final String ACTION_PAUSE_RECORDING = "PAUSE_RECORDING";
    public static final String ACTION_RESUME_RECORDING = "RESUME_RECORDING";
    public static final String ACTION_STOP_RECORDING = "STOP_RECORDING";

    private static final String CHANNEL_ID = "RecordingServiceChannel";
    private static final int NOTIFICATION_ID = 1;

    private MediaRecorder mediaRecorder;
    private String outputFilePath;
    private final IBinder binder = new LocalBinder();
    private RecordingCallback callback;

    public interface RecordingCallback {
        void onRecordingStopped(String filePath);
    }

    public class LocalBinder extends Binder {
        RecordingService getService() {
            return RecordingService.this;
        }
    }

    public void setRecordingCallback(RecordingCallback callback) {
        this.callback = callback;
    }

    @Override
    public void onCreate() {
        super.onCreate();
        createNotificationChannel();
    }

    @Override
    public int onStartCommand(Intent intent, int flags, int startId) {
        if (intent != null) {
            String action = intent.getAction();
            if (ACTION_START_RECORDING.equals(action)) {
                startForegroundService();
                startRecording();
            } else if (ACTION_PAUSE_RECORDING.equals(action)) {
                pauseRecording();
            } else if (ACTION_RESUME_RECORDING.equals(action)) {
                resumeRecording();
            } else if (ACTION_STOP_RECORDING.equals(action)) {
                stopRecording();
                stopSelf();
            }
        }
        return START_NOT_STICKY;
    }

    private void startForegroundService() {
        Notification notification = new NotificationCompat.Builder(this, CHANNEL_ID)
                .setContentTitle("App Recording")
                .setContentText("Recording is in progress.")
                .setSmallIcon(R.drawable.ic_recording)
                .build();

        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.Q) {
            startForeground(NOTIFICATION_ID, notification, android.content.pm.ServiceInfo.FOREGROUND_SERVICE_TYPE_MICROPHONE);
        } else {
            startForeground(NOTIFICATION_ID, notification);
        }
    }

    private void startRecording() {
        outputFilePath = getExternalCacheDir().getAbsolutePath() + "/" + System.currentTimeMillis() + ".m4a";

        mediaRecorder = new MediaRecorder();

        mediaRecorder.setAudioSource(MediaRecorder.AudioSource.CAMCORDER);

        mediaRecorder.setOutputFormat(MediaRecorder.OutputFormat.MPEG_4);
        mediaRecorder.setAudioEncoder(MediaRecorder.AudioEncoder.AAC);

        mediaRecorder.setAudioSamplingRate(44100);
        mediaRecorder.setAudioEncodingBitRate(128000);

        mediaRecorder.setOutputFile(outputFilePath);
        try {
            mediaRecorder.prepare();
            mediaRecorder.start();
        } catch (IOException e) {
            e.printStackTrace();
        }

    }

    private void pauseRecording() {
        if (mediaRecorder != null && Build.VERSION.SDK_INT >= Build.VERSION_CODES.N) {
            mediaRecorder.pause();
        }
    }

    private void resumeRecording() {
        if (mediaRecorder != null && Build.VERSION.SDK_INT >= Build.VERSION_CODES.N) {
            mediaRecorder.resume();
        }
    }

    private void stopRecording() {
        if (mediaRecorder != null) {
            mediaRecorder.stop();
            mediaRecorder.release();
            mediaRecorder = null;
            if (callback != null) {
                callback.onRecordingStopped(outputFilePath);
            }
        }
    }

    public int getCurrentAmplitude() {
        if (mediaRecorder != null) {
            try {
                return mediaRecorder.getMaxAmplitude();
            } catch (IllegalStateException e) {
                e.printStackTrace();
                return 0;
            }
        }
        return 0;
    }


    @Override
    public IBinder onBind(Intent intent) {
        return binder;
    }

    private void createNotificationChannel() {
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.O) {
            NotificationChannel serviceChannel = new NotificationChannel(
                    CHANNEL_ID,
                    "Recording Service Channel",
                    NotificationManager.IMPORTANCE_HIGH
            );
            NotificationManager manager = getSystemService(NotificationManager.class);
            manager.createNotificationChannel(serviceChannel);
        }
    }
}