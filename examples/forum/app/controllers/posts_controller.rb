# frozen_string_literal: true

class PostsController < ApplicationController
  def create
    @topic = Topic.find(params[:topic_id])
    @post = @topic.posts.build(params.require(:post).permit(:author, :body, :upload))
    return redirect_to(topic_path(@topic, anchor: "post-#{@post.id}")) if @post.save

    @posts = @topic.posts.reload.includes(:attachment)
    render "topics/show", status: :unprocessable_entity
  end
end
